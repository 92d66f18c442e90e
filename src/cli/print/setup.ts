import { relative } from 'node:path'
import {
  type FileChange,
  type HarnessSetup,
  type SettingsFileReport,
  type SetupPlan,
  type SetupReport,
  type SetupRequest,
  changesInOrder,
  changeKind,
  unifiedDiff,
} from '../../core.ts'
import { minute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { joinLines, plural } from './terminal/text.ts'

type Asked = Pick<SetupRequest, 'into' | 'remove' | 'dryRun'>
type Program = { readonly title: string } & Pick<HarnessSetup, 'nextStep'>

export function setupJson({ into, remove, dryRun }: Asked, plan: SetupPlan, harness: string) {
  return {
    harness,
    ...(typeof into === 'string' ? { scope: into } : into),
    removed: remove,
    isDryRun: dryRun,
    changes: changesInOrder(plan).map((change) => ({
      path: change.path,
      change: changeKind(change),
      diff: dryRun ? hunksOf(change) : undefined,
    })),
    notes: plan.notes,
  }
}

const FOR = {
  local: 'for you, in this project',
  shared: 'for everybody who works on this project',
  user: 'for you, in every project',
}

export function describeSetup(
  request: Asked,
  { changes, notes: all, record }: SetupPlan,
  output: Output,
  root: string,
  { title, nextStep }: Program,
): string {
  const { into, remove, dryRun } = request
  const notes = all.map((note) => `   ${note}`)
  const where = typeof into === 'string' ? `${title} (${FOR[into]})` : undefined
  if (changes.length === 0 && record === undefined) {
    const there =
      where === undefined
        ? 'The plugin is there already; nothing changed.'
        : `Already set up in ${where}; nothing changed.`
    return joinLines(remove ? 'Nothing of Stint is set up there.' : there, notes)
  }
  if (dryRun)
    return joinLines(
      changes.map((change) => [
        `--- ${change.before === undefined ? '/dev/null' : nearby(change.path, root)}`,
        `+++ ${change.after === undefined ? '/dev/null' : nearby(change.path, root)}`,
        hunksOf(change),
      ]),
      // Our own record is not shown line by line.
      record &&
        `${record.after === undefined ? '---' : '+++'} ${record.path} (what it takes to undo this)`,
      notes,
    )
  const headline =
    where === undefined
      ? `The plugin is ${remove ? 'removed' : 'written'}.`
      : `${remove ? 'Taken out of' : 'Set up in'} ${where}.`
  return joinLines(
    output.bold(headline),
    grouped(changes, root),
    notes,
    !remove && ['', nextStep(request)],
  )
}

const DONE = { create: 'created', change: 'changed', delete: 'deleted' }

/** One line for each file, or for all the slash commands with the same change. */
function grouped(changes: readonly FileChange[], root: string) {
  const lines = changes.map((change) => {
    const isCommand = /[/\\]commands[/\\][\w-]+\.md$/.test(change.path)
    const shown = nearby(change.path, root)
    return `${DONE[changeKind(change)]}  ${isCommand ? shown.replace(/[\w-]+\.md$/, '*.md') : shown}`
  })
  return [...new Set(lines)].map((line) => {
    const count = lines.filter((each) => each === line).length
    return `   ${line}${count > 1 ? ` (${count} slash commands)` : ''}`
  })
}

function hunksOf({ before = '', after = '' }: FileChange) {
  return unifiedDiff(before, after)
}

const FOUND = { launcher: 'launcher', project: 'project itself', path: 'PATH' }

export function describeSetupReport(report: SetupReport, output: Output, root: string): string {
  const { places, command, fired, notes, problems, isWorking } = report
  const column = (name: string, lines: readonly string[]) =>
    lines.map((line, index) => `${(index === 0 ? name : '').padEnd(12)}${line}`)
  const found =
    command.foundBy === null ? 'no Stint' : `by the ${FOUND[command.foundBy]}: ${command.program}`
  return joinLines(
    column(
      'registered',
      places.map((place) => `${place.scope.padEnd(8)}${describePlace(place, root)}`),
    ),
    column('found', [found]),
    column('server', describeServer(report, root)),
    column(
      'fired',
      Object.entries(fired).map(
        ([event, at]) => `${event.padEnd(18)}${at === null ? 'never' : minute(at)}`,
      ),
    ),
    '',
    output.bold(isWorking ? 'Working.' : `${plural(problems.length, 'problem')}:`),
    problems.map(({ what, advice }) => [`   ${what}`, `      ${advice}`]),
    notes.map((note) => `   Note: ${note}`),
  )
}

function describePlace({ path, status, events, plugin }: SettingsFileReport, root: string) {
  const what = {
    current: plural(events.length, 'event'),
    outdated: 'outdated',
    none: 'no',
    unreadable: 'cannot be read',
  }[status]
  return `${what.padEnd(16)}${nearby(path, root)}${plugin === undefined ? '' : `, which turns on the plugin ${plugin}`}`
}

const SERVER = {
  current: 'registered',
  outdated: 'outdated',
  other: 'added by hand',
  unreadable: 'cannot be read',
}
const APPROVAL = {
  approved: 'approved',
  refused: 'turned off by you',
  asked: 'Claude Code asks you once',
}

function describeServer({ server, places: settings }: SetupReport, root: string) {
  const { places, approval, answer } = server
  const plugin = settings.find((place) => place.plugin !== undefined)?.plugin
  if (places.length === 0)
    return [plugin === undefined ? 'no' : `no, unless the plugin ${plugin} brings it`]
  return places.map(({ path, status }) => {
    const isOurs = status === 'current' || status === 'outdated'
    const answers = answer?.isWell === true ? 'answers' : 'does not answer'
    const more = isOurs && approval !== null ? `, ${APPROVAL[approval]}, ${answers}` : ''
    return `${SERVER[status]}${more}: ${nearby(path, root)}`
  })
}

function nearby(path: string, root: string) {
  const short = relative(root, path)
  return short.startsWith('..') ? path : short
}
