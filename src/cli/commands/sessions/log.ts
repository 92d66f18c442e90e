import type { LogEntry, Project, RecordOptions, Recorded } from '../../../library.ts'
import { StintError, publicEntries, publicSessionHead } from '../../../public.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { entryLine, progressLine } from '../../print/session.ts'
import { Misuse } from '../../context/errors.ts'
import { json, session, text, texts, toggle } from '../../context/flags.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly progress?: readonly string[]
  readonly decision?: readonly string[]
  readonly context?: string
  readonly options?: readonly string[]
  readonly choice?: string
  readonly rationale?: string
  readonly discovery?: readonly string[]
  readonly gotcha?: readonly string[]
  readonly blocker?: readonly string[]
  readonly resolved?: boolean
  readonly resolution?: string
  readonly next?: readonly string[]
  readonly done?: readonly string[]
  readonly step?: readonly string[]
  readonly current?: string
  readonly key?: readonly string[]
  readonly file?: readonly string[]
  readonly description?: string
  readonly command?: readonly string[]
  readonly note?: readonly string[]
  readonly goal?: string
  readonly tldr?: string
  readonly amend?: string
  readonly retract?: readonly string[]
  readonly reason?: string
  readonly session?: string
  readonly json?: boolean
}

export const log = buildCommand<Flags, [], Context>({
  docs: {
    brief: 'Record what was done, decided or found',
    fullDescription:
      'Appends to the active session. Several entries may be given in one call, and most flags several times.',
    customUsage: [
      {
        input: '--progress "Implemented the mutex" --discovery "Lock order: watcher first"',
        brief: 'two entries',
      },
      {
        input: '--decision "Use a mutex" --rationale "Simpler than channels"',
        brief: 'a choice and why',
      },
      { input: '--step "Write test" --step "Fix bug"', brief: 'steps; the first becomes current' },
      {
        input: '--done "Write test"',
        brief: 'by text, a part of it, or number; the next becomes current',
      },
      {
        input: '--blocker "Waiting on API docs" --resolved',
        brief: 'what no longer stands in the way',
      },
      { input: '--file src/auth.ts --description "Login"', brief: 'a key file' },
      { input: '--amend a1b2c3 --progress "Better words"', brief: 'reword an entry' },
      { input: '--retract a1b2c3 --reason "Wrong session"', brief: 'take an entry back' },
    ],
  },
  parameters: {
    flags: {
      progress: texts('Something done or under way'),
      decision: texts('A choice'),
      context: text('What made the decision necessary'),
      options: texts('What could have been chosen'),
      choice: text('What was chosen, if the decision does not say it'),
      rationale: text('Why'),
      discovery: texts('Something found out'),
      gotcha: texts('A trap to remember'),
      blocker: texts('What stands in the way'),
      resolved: toggle('The blocker named by --blocker no longer stands in the way'),
      resolution: text('How the blocker was resolved'),
      next: texts('What is to be done next'),
      done: texts('A step that is done, by text or number', 'STEP'),
      step: texts('A step to do'),
      current: text('The step to work on now, by text or number', 'STEP'),
      key: texts('A fact that must survive compaction'),
      file: texts('A file changed; with --description, a key file', 'PATH'),
      description: text('What the file is'),
      command: texts('A command to show on resume (never run)', 'COMMAND'),
      note: texts('Anything else'),
      goal: text('A new objective'),
      tldr: text('A new TL;DR'),
      amend: text('Reword the entry with this id', 'ENTRY'),
      retract: texts('Take back the entry with this id', 'ENTRY'),
      reason: text('Why it is taken back'),
      session,
      json,
    },
  },
  async func(flags) {
    await withProject(this, flags, async (project, output, pick) => {
      const options = {
        ...recordOptions(flags),
        by: 'cli',
        ...defined({ session: await pick(flags.session) }),
      }
      const { reading, appended } = await record(project, options, flags)
      const { state } = reading
      const lacksReason =
        flags.decision !== undefined && flags.rationale === undefined && flags.amend === undefined
      if (lacksReason)
        output.talk('the decision has no --rationale; without one it will be argued again')
      output.result(
        flags.json,
        {
          session: publicSessionHead(state),
          entries: publicEntries(appended, () => reading.entries),
        },
        () =>
          [
            ...appended
              .filter((entry) => entry.kind !== 'git.observed')
              .map((entry) => entryLine(entry, () => reading.entries)),
            output.dim(`${state.name}: ${progressLine(state)}`),
          ].join('\n'),
      )
    })
  },
})

/**
 * The words of a checkpoint are its note, those of every other entry its text, and only the library
 * knows what the id means: `--amend ID --note TEXT` is tried as the one and then as the other.
 */
async function record(project: Project, options: RecordOptions, flags: Flags): Promise<Recorded> {
  try {
    return await project.log(options)
  } catch (error) {
    if (!isNotAmendable(error) || options.amend === undefined || flags.note === undefined)
      throw error
    const { text: note, ...rest } = options.amend.changes
    try {
      return await project.log({
        ...options,
        amend: { ...options.amend, changes: { ...rest, ...defined({ note }) } },
      })
    } catch (second) {
      // It is no checkpoint either; the first answer is the one about what was typed.
      throw isNotAmendable(second) ? error : second
    }
  }
}

function isNotAmendable(error: unknown): boolean {
  return error instanceof StintError && error.code === 'NOT_AMENDABLE'
}

function recordOptions(flags: Flags): RecordOptions {
  if (flags.amend !== undefined) {
    const stray = NOT_AMENDING.filter((flag) => flags[flag] !== undefined)
    if (stray.length > 0) {
      const names = stray.map((flag) => `--${flag}`).join(', ')
      throw new Misuse(
        `--amend only rewords an entry; ${names} cannot go with it`,
        'give them in a call of their own',
      )
    }
    return { amend: { entry: flags.amend, changes: changesFrom(flags) } }
  }
  const entries = entriesFrom(flags)
  const retract = flags.retract ?? []
  if (entries.length === 0 && retract.length === 0) {
    throw new Misuse(
      'there is nothing to log',
      'stint log --progress "what was done"; stint log --help lists what can be recorded',
    )
  }
  return { entries, retract, ...defined({ reason: flags.reason }) }
}

/** Flags that stand for no field of an entry. */
const NOT_AMENDING = ['done', 'retract', 'current', 'resolved', 'reason'] as const

function entriesFrom(flags: Flags): readonly LogEntry[] {
  const decisions = flags.decision ?? []
  const detail = {
    ...defined({
      context: flags.context,
      choice: flags.choice,
      rationale: flags.rationale,
      options: flags.options && numbered(flags.options),
    }),
  }
  if (decisions.length !== 1 && Object.keys(detail).length > 0) {
    throw new Misuse(
      '--context, --options, --choice and --rationale belong to one --decision',
      'log several decisions one by one',
    )
  }
  const files = flags.file ?? []
  if (flags.description !== undefined && files.length !== 1)
    throw new Misuse('--description belongs to one --file')
  if ((flags.resolved === true || flags.resolution !== undefined) && flags.blocker === undefined) {
    throw new Misuse(
      '--resolved needs --blocker',
      'name the blocker: --blocker "part of its text" --resolved',
    )
  }
  const isResolved = flags.resolved === true || flags.resolution !== undefined
  return [
    ...(flags.goal === undefined ? [] : [{ goal: flags.goal }]),
    ...(flags.step ?? []).map((step) => ({ step })),
    ...(flags.done ?? []).map((done) => ({ done })),
    ...(flags.current === undefined ? [] : [{ current: flags.current }]),
    ...(flags.progress ?? []).map((progress) => ({ progress })),
    ...decisions.map((decision) => ({ decision, ...detail })),
    ...(flags.discovery ?? []).map((discovery) => ({ discovery })),
    ...(flags.gotcha ?? []).map((gotcha) => ({ gotcha })),
    ...(flags.blocker ?? []).map((blocker) =>
      isResolved
        ? { resolved: blocker, ...defined({ resolution: flags.resolution }) }
        : { blocker },
    ),
    ...(flags.next ?? []).map((next) => ({ next })),
    ...(flags.key ?? []).map((key) => ({ key })),
    ...files.map((file) => ({ file, ...defined({ description: flags.description }) })),
    ...(flags.command ?? []).map((command) => ({ command })),
    ...(flags.note ?? []).map((note) => ({ note })),
    ...(flags.tldr === undefined ? [] : [{ tldr: flags.tldr }]),
  ]
}

/** What `--amend` changes: the field that each flag stands for. */
function changesFrom(flags: Flags): Record<string, string> {
  const changes: Record<string, string> = {}
  const set = (field: string, value: string | undefined) => {
    if (value === undefined) return
    if (changes[field] !== undefined) throw new Misuse(`--amend takes one new ${field}`)
    changes[field] = value
  }
  for (const flag of [
    'progress',
    'discovery',
    'gotcha',
    'next',
    'step',
    'key',
    'blocker',
    'note',
  ] as const) {
    for (const value of flags[flag] ?? []) set('text', value)
  }
  set('text', flags.goal)
  set('text', flags.tldr)
  for (const value of flags.decision ?? []) set('title', value)
  for (const value of flags.command ?? []) set('command', value)
  for (const value of flags.file ?? []) set('path', value)
  if (flags.options !== undefined) set('options', numbered(flags.options))
  for (const field of ['context', 'choice', 'rationale', 'description', 'resolution'] as const)
    set(field, flags[field])
  return changes
}

/** `(1) Lock before check, (2) Atomic state`: several options in the document's own form. */
function numbered(options: readonly string[]): string {
  return options.length === 1
    ? options[0]!
    : options.map((option, index) => `(${index + 1}) ${option}`).join(', ')
}
