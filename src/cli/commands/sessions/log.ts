import type { LogEntry, RecordOptions } from '../../../library.ts'
import type { Project, Recorded } from '../../../core.ts'
import { StintError, publicEntries, publicSessionHead } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import { type Flags as FlagsOf, defineProjectCommand } from '../../context/command.ts'
import { UsageError } from '../../context/context.ts'
import { sessionFlag, textFlag, repeatedTextFlag, toggle } from '../../context/flags.ts'
import { entryLine, progressLine } from '../../print/session.ts'

const FLAGS = {
  progress: repeatedTextFlag('Something done or under way'),
  decision: repeatedTextFlag('A choice'),
  context: textFlag('What made the decision necessary'),
  options: repeatedTextFlag('What could have been chosen'),
  choice: textFlag('What was chosen, if the decision does not say it'),
  rationale: textFlag('Why'),
  discovery: repeatedTextFlag('Something found out'),
  gotcha: repeatedTextFlag('A trap to remember'),
  blocker: repeatedTextFlag('What stands in the way'),
  resolved: toggle('The blocker named by --blocker no longer stands in the way'),
  resolution: textFlag('How the blocker was resolved'),
  next: repeatedTextFlag('What is to be done next'),
  done: repeatedTextFlag('A step that is done, by text or number', 'STEP'),
  step: repeatedTextFlag('A step to do'),
  current: textFlag('The step to work on now, by text or number', 'STEP'),
  key: repeatedTextFlag('A fact that must survive compaction'),
  file: repeatedTextFlag('A file changed; with --description, a key file', 'PATH'),
  description: textFlag('What the file is'),
  command: repeatedTextFlag('A command to show on resume (never run)', 'COMMAND'),
  note: repeatedTextFlag('Anything else'),
  goal: textFlag('A new objective'),
  tldr: textFlag('A new TL;DR'),
  amend: textFlag('Reword the entry with this id', 'ENTRY'),
  retract: repeatedTextFlag('Take back the entry with this id', 'ENTRY'),
  reason: textFlag('Why it is taken back'),
  session: sessionFlag,
}

type Flags = FlagsOf<typeof FLAGS>

export const log = defineProjectCommand({
  brief: 'Record what was done, decided or found',
  about:
    'Appends to the active session. Several entries may be given in one call, and most flags several times.',
  usage: [
    ['--progress "Implemented the mutex" --discovery "Lock order: watcher first"', 'two entries'],
    ['--decision "Use a mutex" --rationale "Simpler than channels"', 'a choice and why'],
    ['--step "Write test" --step "Fix bug"', 'steps; the first becomes current'],
    ['--done "Write test"', 'by text, a part of it, or number; the next becomes current'],
    ['--blocker "Waiting on API docs" --resolved', 'what no longer stands in the way'],
    ['--file src/auth.ts --description "Login"', 'a key file'],
    ['--amend a1b2c3 --progress "Better words"', 'reword an entry'],
    ['--retract a1b2c3 --reason "Wrong session"', 'take an entry back'],
  ],
  flags: FLAGS,
  async run({ project, output, pick, print }, flags) {
    const options = { ...recordOptions(flags), by: 'cli', ...(await pick(flags.session)) }
    const { reading, appended } = await logOrAmendNote(project, options, flags)
    const { state } = reading
    const all = () => reading.entries
    if (flags.decision && flags.rationale === undefined && flags.amend === undefined)
      output.info('the decision has no --rationale; without one it will be argued again')
    print({ session: publicSessionHead(state), entries: publicEntries(appended, all) }, () =>
      [
        ...appended
          .filter((entry) => entry.kind !== 'git.observed')
          .map((entry) => entryLine(entry, all)),
        output.dim(`${state.name}: ${progressLine(state)}`),
      ].join('\n'),
    )
  },
})

/**
 * `--amend ID --note TEXT` rewords the text of an entry, or the note of a checkpoint. Only the library knows
 * which of them the id names, so both are tried.
 */
async function logOrAmendNote(
  project: Project,
  options: RecordOptions,
  flags: Flags,
): Promise<Recorded> {
  const { amend } = options
  try {
    return await project.log(options)
  } catch (error) {
    if (!isNotAmendableError(error) || amend === undefined || flags.note === undefined) throw error
    const { text: note, ...rest } = amend.changes
    const changes = { ...rest, ...defined({ note }) }
    try {
      return await project.log({ ...options, amend: { ...amend, changes } })
    } catch (second) {
      // Not a checkpoint either; the first error is about what was typed.
      throw isNotAmendableError(second) ? error : second
    }
  }
}

function isNotAmendableError(error: unknown): boolean {
  return error instanceof StintError && error.code === 'NOT_AMENDABLE'
}

/** Flags that set no field of an entry. */
const NOT_AMENDABLE_FLAGS = ['done', 'retract', 'current', 'resolved', 'reason'] as const

function recordOptions(flags: Flags): RecordOptions {
  const { amend, retract = [], reason } = flags
  if (amend !== undefined) {
    const conflicting = NOT_AMENDABLE_FLAGS.filter((flag) => flags[flag] !== undefined)
    if (conflicting.length > 0) {
      throw new UsageError(
        `--amend only rewords an entry; ${conflicting.map((flag) => `--${flag}`).join(', ')} cannot go with it`,
        'give them in a call of their own',
      )
    }
    return { amend: { entry: amend, changes: changesFrom(flags) } }
  }
  const entries = entriesFrom(flags)
  if (entries.length === 0 && retract.length === 0) {
    throw new UsageError(
      'there is nothing to log',
      'stint log --progress "what was done"; stint log --help lists what can be recorded',
    )
  }
  return { entries, retract, ...defined({ reason }) }
}

function entriesFrom(flags: Flags): readonly LogEntry[] {
  const { decision = [], file = [], blocker = [], context, choice, rationale } = flags
  const options = flags.options && numberOptions(flags.options)
  const decisionFields = defined({ context, choice, rationale, options })
  if (decision.length !== 1 && Object.keys(decisionFields).length > 0) {
    throw new UsageError(
      '--context, --options, --choice and --rationale belong to one --decision',
      'log several decisions one by one',
    )
  }
  const description = defined({ description: flags.description })
  if (flags.description !== undefined && file.length !== 1)
    throw new UsageError('--description belongs to one --file')
  const resolution = defined({ resolution: flags.resolution })
  const isResolved = flags.resolved || flags.resolution !== undefined
  if (isResolved && flags.blocker === undefined) {
    throw new UsageError(
      '--resolved needs --blocker',
      'name the blocker: --blocker "part of its text" --resolved',
    )
  }
  type PlainFlag = 'goal' | 'current' | 'tldr' | keyof typeof TEXT_FLAGS | 'done' | 'command'
  const entriesOf = (flag: PlainFlag) =>
    [flags[flag] ?? []].flat().map((value) => ({ [flag]: value }) as unknown as LogEntry)
  return [
    ...entriesOf('goal'),
    ...entriesOf('step'),
    ...entriesOf('done'),
    ...entriesOf('current'),
    ...entriesOf('progress'),
    ...decision.map((title) => ({ decision: title, ...decisionFields })),
    ...entriesOf('discovery'),
    ...entriesOf('gotcha'),
    ...(isResolved
      ? blocker.map((resolved) => ({ resolved, ...resolution }))
      : entriesOf('blocker')),
    ...entriesOf('next'),
    ...entriesOf('key'),
    ...file.map((path) => ({ file: path, ...description })),
    ...entriesOf('command'),
    ...entriesOf('note'),
    ...entriesOf('tldr'),
  ]
}

/** The flags that set the text of an entry. */
const TEXT_FLAGS = {
  progress: 'text',
  discovery: 'text',
  gotcha: 'text',
  next: 'text',
  step: 'text',
  key: 'text',
  blocker: 'text',
  note: 'text',
} as const

/** The field that each flag amends. */
const FIELD_OF_FLAG = {
  ...TEXT_FLAGS,
  goal: 'text',
  tldr: 'text',
  decision: 'title',
  command: 'command',
  file: 'path',
  context: 'context',
  choice: 'choice',
  rationale: 'rationale',
  description: 'description',
  resolution: 'resolution',
} as const

function changesFrom(flags: Flags): Record<string, string> {
  const changes: Record<string, string> = {}
  for (const [flag, field] of Object.entries(FIELD_OF_FLAG)) {
    for (const value of [flags[flag as keyof typeof FIELD_OF_FLAG] ?? []].flat()) {
      if (changes[field] !== undefined) throw new UsageError(`--amend takes one new ${field}`)
      changes[field] = value
    }
  }
  return { ...changes, ...defined({ options: flags.options && numberOptions(flags.options) }) }
}

/** `(1) Lock before check, (2) Atomic state`, as the document writes several options. */
function numberOptions(options: readonly string[]): string {
  return options.length === 1
    ? options[0]!
    : options.map((option, index) => `(${index + 1}) ${option}`).join(', ')
}
