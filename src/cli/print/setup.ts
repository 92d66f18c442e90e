// What `stint setup` says.
import {
  type FileChange,
  type HarnessSetup,
  type PlaceReport,
  type Plan,
  type ServerReport,
  type SetupReport,
  type SetupRequest,
  filesOf,
  kindOf,
  unifiedDiff,
} from '../../core.ts'
import { relative } from 'node:path'
import { minute } from '../../text/times.ts'
import type { Output } from '../context/output.ts'
import { plural } from './terminal/text.ts'

type Asked = Pick<SetupRequest, 'into' | 'remove' | 'dryRun'>
type Program = { readonly title: string } & Pick<HarnessSetup, 'nextStep'>

export function setupJson({ into, remove, dryRun }: Asked, plan: Plan, harness: string) {
  return {
    harness,
    ...(typeof into === 'string' ? { scope: into } : into),
    removed: remove,
    isDryRun: dryRun,
    changes: filesOf(plan).map((change) => ({
      path: change.path,
      change: kindOf(change),
      ...(dryRun ? { diff: hunksOf(change) } : {}),
    })),
    notes: plan.notes,
  }
}

export function describeSetup(
  request: Asked,
  plan: Plan,
  output: Output,
  root: string,
  program: Program,
): string {
  const { changes, notes, record } = plan
  const said = notes.map((note) => `   ${note}`)
  if (changes.length === 0 && record === undefined)
    return [nothingToDo(request, program.title), ...said].join('\n')
  if (request.dryRun)
    return [
      ...changes.flatMap((change) => describeDiff(change, root)),
      ...describeRecord(record),
      ...said,
    ].join('\n')
  return [
    output.bold(headline(request, program.title)),
    ...grouped(changes, root),
    ...said,
    ...(request.remove ? [] : ['', program.nextStep(request)]),
  ].join('\n')
}

const FOR = {
  local: 'for you, in this project',
  shared: 'for everybody who works on this project',
  user: 'for you, in every project',
}

function headline({ into, remove }: Asked, program: string): string {
  if (typeof into !== 'string') return remove ? 'The plugin is removed.' : 'The plugin is written.'
  return remove ? `Taken out of ${program} (${FOR[into]}).` : `Set up in ${program} (${FOR[into]}).`
}

function nothingToDo({ remove, into }: Asked, program: string): string {
  if (remove) return 'Nothing of Stint is set up there.'
  return typeof into === 'string'
    ? `Already set up in ${program} (${FOR[into]}); nothing changed.`
    : 'The plugin is there already; nothing changed.'
}

const DONE = { create: 'created', change: 'changed', delete: 'deleted' }

/** One line for each file, or for all the slash commands that fared alike. */
function grouped(changes: readonly FileChange[], root: string): readonly string[] {
  const lines = changes.map((change) => {
    const isCommand = /[/\\]commands[/\\][\w-]+\.md$/.test(change.path)
    const shown = nearby(change.path, root)
    return `${DONE[kindOf(change)]}  ${isCommand ? shown.replace(/[\w-]+\.md$/, '*.md') : shown}`
  })
  return [...new Set(lines)].map((line) => {
    const count = lines.filter((each) => each === line).length
    return `   ${line}${count > 1 ? ` (${count} slash commands)` : ''}`
  })
}

function describeDiff(change: FileChange, root: string): readonly string[] {
  const shown = nearby(change.path, root)
  const { before, after } = change
  return [
    `--- ${before === undefined ? '/dev/null' : shown}`,
    `+++ ${after === undefined ? '/dev/null' : shown}`,
    ...hunksOf(change),
  ]
}

function hunksOf({ before, after }: FileChange): readonly string[] {
  return unifiedDiff(before ?? '', after ?? '')
}

/** Nobody reads our own record line by line. */
function describeRecord(record: FileChange | undefined): readonly string[] {
  if (record === undefined) return []
  return [
    `${record.after === undefined ? '---' : '+++'} ${record.path} (what it takes to undo this)`,
  ]
}

export function describeReport(report: SetupReport, output: Output, root: string): string {
  const { places, server, command, fired, notes, problems, isWorking } = report
  const never = Object.entries(fired).map(
    ([event, at]) => `${event.padEnd(18)}${at === null ? 'never' : minute(at)}`,
  )
  return [
    ...column(
      'registered',
      places.map((place) => `${place.scope.padEnd(8)}${describePlace(place, root)}`),
    ),
    ...column('found', [
      command.foundBy === null
        ? 'no Stint'
        : `by the ${FOUND[command.foundBy]}: ${command.program}`,
    ]),
    ...column('server', describeServer(server, places, root)),
    ...column('fired', never),
    '',
    output.bold(isWorking ? 'Working.' : `${plural(problems.length, 'problem')}:`),
    ...problems.flatMap(({ what, advice }) => [`   ${what}`, `      ${advice}`]),
    ...notes.map((note) => `   Note: ${note}`),
  ].join('\n')
}

const FOUND = { launcher: 'launcher', project: 'project itself', path: 'PATH' }

function describePlace({ path, status, events, plugin }: PlaceReport, root: string): string {
  const what = {
    current: plural(events.length, 'event'),
    outdated: 'outdated',
    none: 'no',
    unreadable: 'cannot be read',
  }[status]
  return `${what.padEnd(16)}${nearby(path, root)}${plugin === undefined ? '' : `, which turns on the plugin ${plugin}`}`
}

const WORDS = {
  server: {
    current: 'registered',
    outdated: 'outdated',
    other: 'added by hand',
    unreadable: 'cannot be read',
  },
  approval: {
    approved: 'approved',
    refused: 'turned off by you',
    asked: 'Claude Code asks you once',
  },
}

function describeServer(
  { places, approval, answer }: ServerReport,
  settings: readonly PlaceReport[],
  root: string,
): readonly string[] {
  const plugin = settings.find((place) => place.plugin !== undefined)?.plugin
  if (places.length === 0)
    return [plugin === undefined ? 'no' : `no, unless the plugin ${plugin} brings it`]
  return places.map(({ path, status }) => {
    const isOurs = status === 'current' || status === 'outdated'
    const more =
      isOurs && approval !== null
        ? [WORDS.approval[approval], answer?.isWell === true ? 'answers' : 'does not answer']
        : []
    return `${[WORDS.server[status], ...more].join(', ')}: ${nearby(path, root)}`
  })
}

function column(name: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${(index === 0 ? name : '').padEnd(12)}${line}`)
}

function nearby(path: string, root: string): string {
  const short = relative(root, path)
  return short.startsWith('..') ? path : short
}
