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
import { formatToMinute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { joinLines, plural } from './terminal/text.ts'

type SetupTarget = Pick<SetupRequest, 'into' | 'remove' | 'dryRun'>
type SetupProgram = { readonly title: string } & Pick<HarnessSetup, 'nextStep'>

export function setupJson({ into, remove, dryRun }: SetupTarget, plan: SetupPlan, harness: string) {
  return {
    harness,
    ...(typeof into === 'string' ? { scope: into } : into),
    removed: remove,
    isDryRun: dryRun,
    changes: changesInOrder(plan).map((change) => ({
      path: change.path,
      change: changeKind(change),
      diff: dryRun ? diffHunks(change) : undefined,
    })),
    notes: plan.notes,
  }
}

const SCOPE_TEXTS = {
  local: 'for you, in this project',
  shared: 'for everybody who works on this project',
  user: 'for you, in every project',
}

export function describeSetup(
  request: SetupTarget,
  { changes, notes: all, record }: SetupPlan,
  output: Output,
  root: string,
  { title, nextStep }: SetupProgram,
): string {
  const { into, remove, dryRun } = request
  const notes = all.map((note) => `   ${note}`)
  const target = typeof into === 'string' ? `${title} (${SCOPE_TEXTS[into]})` : undefined
  if (changes.length === 0 && record === undefined) {
    const unchangedText =
      target === undefined
        ? 'The plugin is there already; nothing changed.'
        : `Already set up in ${target}; nothing changed.`
    return joinLines(remove ? 'Nothing of Stint is set up there.' : unchangedText, notes)
  }
  if (dryRun)
    return joinLines(
      changes.map((change) => [
        `--- ${change.before === undefined ? '/dev/null' : relativePath(change.path, root)}`,
        `+++ ${change.after === undefined ? '/dev/null' : relativePath(change.path, root)}`,
        diffHunks(change),
      ]),
      // Our own record is not shown as a diff.
      record &&
        `${record.after === undefined ? '---' : '+++'} ${record.path} (what it takes to undo this)`,
      notes,
    )
  const headline =
    target === undefined
      ? `The plugin is ${remove ? 'removed' : 'written'}.`
      : `${remove ? 'Taken out of' : 'Set up in'} ${target}.`
  return joinLines(
    output.bold(headline),
    changeLines(changes, root),
    notes,
    !remove && ['', nextStep(request)],
  )
}

const CHANGE_TEXTS = { create: 'created', change: 'changed', delete: 'deleted' }

/** One line per file, or one for all slash commands with the same change. */
function changeLines(changes: readonly FileChange[], root: string) {
  const lines = changes.map((change) => {
    const isCommand = /[/\\]commands[/\\][\w-]+\.md$/.test(change.path)
    const shownPath = relativePath(change.path, root)
    return `${CHANGE_TEXTS[changeKind(change)]}  ${isCommand ? shownPath.replace(/[\w-]+\.md$/, '*.md') : shownPath}`
  })
  return [...new Set(lines)].map((line) => {
    const count = lines.filter((each) => each === line).length
    return `   ${line}${count > 1 ? ` (${count} slash commands)` : ''}`
  })
}

function diffHunks({ before = '', after = '' }: FileChange) {
  return unifiedDiff(before, after)
}

export function describeSetupReport(report: SetupReport, output: Output, root: string): string {
  const { places, command, fired, notes, problems, isWorking } = report
  const column = (name: string, lines: readonly string[]) =>
    lines.map((line, index) => `${(index === 0 ? name : '').padEnd(12)}${line}`)
  const foundText = command.program === null ? 'no Stint' : `by the launcher: ${command.program}`
  return joinLines(
    column(
      'registered',
      places.map((file) => `${file.scope.padEnd(8)}${placeText(file, root)}`),
    ),
    column('found', [foundText]),
    column('server', serverLines(report, root)),
    column(
      'fired',
      Object.entries(fired).map(
        ([event, at]) => `${event.padEnd(18)}${at === null ? 'never' : formatToMinute(at)}`,
      ),
    ),
    '',
    output.bold(isWorking ? 'Working.' : `${plural(problems.length, 'problem')}:`),
    problems.map(({ what, advice }) => [`   ${what}`, `      ${advice}`]),
    notes.map((note) => `   Note: ${note}`),
  )
}

function placeText({ path, status, events, plugin }: SettingsFileReport, root: string) {
  const statusText = {
    current: plural(events.length, 'event'),
    outdated: 'outdated',
    none: 'no',
    unreadable: 'cannot be read',
  }[status]
  return `${statusText.padEnd(16)}${relativePath(path, root)}${plugin === undefined ? '' : `, which turns on the plugin ${plugin}`}`
}

const SERVER_STATUS_TEXTS = {
  current: 'registered',
  outdated: 'outdated',
  other: 'added by hand',
  unreadable: 'cannot be read',
}
const APPROVAL_TEXTS = {
  approved: 'approved',
  refused: 'turned off by you',
  asked: 'Claude Code asks you once',
}

function serverLines({ server, places: settings }: SetupReport, root: string) {
  const { places, approval, answer } = server
  const plugin = settings.find((file) => file.plugin !== undefined)?.plugin
  if (places.length === 0)
    return [plugin === undefined ? 'no' : `no, unless the plugin ${plugin} brings it`]
  return places.map(({ path, status }) => {
    const isOurs = status === 'current' || status === 'outdated'
    const answerText = answer?.isWell === true ? 'answers' : 'does not answer'
    const details =
      isOurs && approval !== null ? `, ${APPROVAL_TEXTS[approval]}, ${answerText}` : ''
    return `${SERVER_STATUS_TEXTS[status]}${details}: ${relativePath(path, root)}`
  })
}

function relativePath(path: string, root: string) {
  const short = relative(root, path)
  return short.startsWith('..') ? path : short
}
