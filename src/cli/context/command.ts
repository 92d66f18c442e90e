// How a command is defined: help, arguments, flags and what it runs.
import { type Command, type RouteMap, buildCommand, buildRouteMap } from '@stricli/core'
import { defined } from '../../text/defined.ts'
import { type CliContext, EXIT, Output, errorJson, exitCodeFor } from './context.ts'
import { toggle } from './flags.ts'
import type { Project } from '../../core.ts'
import { StintError } from '../../public/projection.ts'
import { withSuggestions } from './suggestions.ts'

const JSON_BRIEF = 'Print the result as JSON'

export interface Invocation {
  readonly context: CliContext
  readonly output: Output
  readonly json: boolean
  /** Prints the result: as JSON with --json, else as text. */
  print(value: unknown, text: () => string): void
  /** Sets an exit code other than 0. */
  exit(code: number): void
}

export interface Argument {
  readonly brief: string
  readonly placeholder: string
  readonly optional?: true
  readonly parse: (input: string) => string
  readonly proposeCompletions?: (this: CliContext, partial: string) => Promise<readonly string[]>
}

type FlagSpecs = Readonly<Record<string, { readonly brief: string }>>

/** A single argument may be repeated; a list has a fixed length. */
type Arguments = Argument | readonly Argument[]

type FlagValue<F> = F extends { check: (value: string, flag: string) => infer V }
  ? V
  : F extends { kind: 'boolean' }
    ? boolean
    : F extends { values: readonly (infer V)[] }
      ? V
      : F extends { parse: (input: string) => infer V }
        ? V
        : never

/** Flag values; each may be missing. */
export type Flags<S> = {
  readonly [K in keyof S]?: S[K] extends { variadic: unknown }
    ? readonly FlagValue<S[K]>[]
    : FlagValue<S[K]>
}

type ArgumentValues<A> = A extends readonly Argument[]
  ? { -readonly [I in keyof A]: A[I] extends { optional: true } ? string | undefined : string }
  : string[]

interface Help {
  readonly brief: string
  readonly about?: string
  readonly usage?: readonly (readonly [input: string, brief: string])[]
}

export interface CommandSpec<S, A extends Arguments, I> extends Help {
  readonly args?: A
  readonly flags?: S
  /** The help text of --json where it does not print the result; false for a command without --json. */
  readonly json?: string | false
  /** With --json it prints one line per object, errors included. */
  readonly isLines?: true
  run(invocation: I, flags: Flags<S>, ...args: ArgumentValues<A>): Promise<void> | void
}

/** `open` creates what the command works with and cleans it up afterwards. */
export function commandFactory<I>(
  open: (invocation: Invocation, work: (opened: I) => Promise<void> | void) => Promise<void>,
) {
  return <const S extends FlagSpecs = {}, const A extends Arguments = []>(
    spec: CommandSpec<S, A, I>,
  ): Command<CliContext> => {
    const { args, run, json = JSON_BRIEF } = spec
    const flags = { ...spec.flags, ...(json && { json: toggle(json) }) }
    const positional = Array.isArray(args)
      ? { kind: 'tuple', parameters: args }
      : args && { kind: 'array', parameter: args }
    return buildCommand({
      docs: toDocs(spec),
      parameters: defined({ positional, flags }) as never,
      async func(this: CliContext, { json = false, ...raw }: { json?: boolean }, ...words: never) {
        const output = new Output(this)
        const invocation = {
          context: this,
          output,
          json,
          print: (value: unknown, text: () => string) =>
            json ? output.json(value, 2) : output.line(text()),
          exit: (code: number) => {
            this.process.exitCode = code
          },
        }
        try {
          const values = readFlags(flags, raw)
          await open(invocation, (opened) => run(opened, values as never, ...words))
        } catch (error) {
          if (!json || exitCodeFor(error) === EXIT.defect) throw error
          output.json(errorJson(error), spec.isLines ? 0 : 2)
          // Set, not thrown: the parser would print a thrown error again on stderr.
          this.process.exitCode = exitCodeFor(error)
        }
      },
    })
  }
}

export const defineCommand = commandFactory<Invocation>(async (invocation, work) =>
  work(invocation),
)

/** Subcommands under one name. */
export function defineCommandGroup(
  spec: Help & {
    readonly routes: Readonly<Record<string, Command<CliContext> | RouteMap<CliContext>>>
    readonly default?: string
    readonly hidden?: string
  },
): RouteMap<CliContext> {
  const { routes, hidden, default: defaultCommand } = spec
  return buildRouteMap<string, CliContext>({
    routes,
    ...(defined({ defaultCommand }) as {}),
    docs: { ...toDocs(spec), ...(hidden && { hideRoute: { [hidden]: true } }) },
  })
}

function toDocs({ brief, about, usage }: Help) {
  const customUsage = usage?.map(([input, brief]) => ({ input, brief }))
  return { brief, ...defined({ fullDescription: about, customUsage }) }
}

/** Validates the flags that have a check. */
export function readFlags<S extends object>(specs: S, raw: object): Flags<S> {
  const read = Object.entries(defined(raw as Record<string, unknown>)).map(([name, value]) => {
    const { check } =
      (specs as Record<string, { check?: (value: unknown, flag: string) => unknown }>)[name] ?? {}
    if (check === undefined) return [name, value]
    const checked = (each: unknown) => check(each, flagName(name))
    return [name, Array.isArray(value) ? value.map(checked) : checked(value)]
  })
  return Object.fromEntries(read) as Flags<S>
}

/** `dryRun` as the user types it: `--dry-run`. */
export function flagName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Lists the flags of a group's default command, which the parser's help omits. */
export function listFlags(flags: FlagSpecs, width: number): readonly string[] {
  return Object.entries({ ...flags, json: { brief: JSON_BRIEF } }).map(
    ([name, { brief }]) => `  ${flagName(name).padEnd(width)}${brief}`,
  )
}

export interface ProjectInvocation extends Invocation {
  readonly project: Project
  /** Resolves a session name from the command line; asks the user when several match. */
  pick(name: string | undefined): Promise<{ readonly session?: string }>
}

/** A command that works with the project. It asks which session is meant where several match. */
export const defineProjectCommand = commandFactory<ProjectInvocation>(async (invocation, work) => {
  const { context, output } = invocation
  const { AmbiguousSession, openProject } = await import('./lazy-library.ts')
  /** Resolved names, so that nothing is asked twice. */
  const resolvedNames = new Map<string, string>()

  const askWhichSession = async (error: unknown): Promise<string> => {
    if (!(error instanceof AmbiguousSession) || !context.canAsk) throw error
    const { askSession } = await import('./ask.ts')
    const answer = await askSession(error.candidates)
    // Another error, or the user who cancelled would be asked again.
    if (answer === undefined) throw new StintError(error.code, error.message, error.hint)
    return answer
  }

  const runWith = async (env: NodeJS.ProcessEnv) => {
    const project = openProject(context.cwd, {
      env,
      say: (line) => output.info(line),
      progress: (done, total) => output.progress(done, total),
    })
    const pick = async (name: string | undefined) => {
      if (name === undefined) return {}
      const session =
        resolvedNames.get(name) ?? (await project.find(name).then((row) => row.id, askWhichSession))
      resolvedNames.set(name, session)
      return { session }
    }
    try {
      await askIfNeedsConsent(invocation, project, () => work({ ...invocation, project, pick }))
    } catch (error) {
      throw await withSuggestions(project, error)
    } finally {
      project.dispose()
    }
  }

  try {
    await runWith(context.env)
  } catch (error) {
    // Names are resolved by now; only the active session is ambiguous.
    await runWith({ ...context.env, STINT_SESSION: await askWhichSession(error) })
  }
})

const CONSENT_CODES: ReadonlySet<string> = new Set(['NEEDS_CONSENT', 'FOREIGN_JOURNAL'])

/** On a terminal, shows what a command needs consent to and asks; after a yes the command starts again. */
async function askIfNeedsConsent(
  { context, output }: Invocation,
  project: Project,
  work: () => Promise<void> | void,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isAsked = error instanceof StintError && CONSENT_CODES.has(error.code)
    if (!isAsked || !context.canAsk) throw error
    const { askToTrust } = await import('./ask-trust.ts')
    const review = await project.trust.review()
    if (!(await askToTrust(review, output))) throw error
    await project.trust.grant(review)
    await work()
  }
}

/** Redirects messages to a live view while it draws; undefined restores stderr. */
export type RedirectMessages = (emit: ((line: string) => void) | undefined) => void

export interface RunInvocation extends Invocation {
  readonly project: Project
  readonly redirectMessages: RedirectMessages
}

export async function openForRuns(
  invocation: Invocation,
  work: (opened: RunInvocation) => Promise<void> | void,
): Promise<void> {
  const { context, output } = invocation
  const toStderr = (line: string) => output.info(line)
  let emit = toStderr
  const { openProject } = await import('./lazy-library.ts')
  const project = openProject(context.cwd, { env: context.env, say: (line) => emit(line) })
  try {
    await askIfNeedsConsent(invocation, project, () =>
      work({ ...invocation, project, redirectMessages: (sink) => (emit = sink ?? toStderr) }),
    )
  } finally {
    project.dispose()
  }
}

/** A command about runs, which never asks for a session. */
export const defineRunCommand = commandFactory(openForRuns)
