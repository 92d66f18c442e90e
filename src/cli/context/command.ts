// How a command is written: its words, its flags and what it does. What is the same for all of them is here.
import { type Command, type RouteMap, buildCommand, buildRouteMap } from '@stricli/core'
import { defined } from '../../text/defined.ts'
import { type CliContext, EXIT, Output, errorJson, exitCodeFor } from './context.ts'
import { toggle } from './flags.ts'
import type { Project } from '../../library.ts'
import { StintError } from '../../public.ts'

const JSON_BRIEF = 'Print the result as JSON'

/** What every command works with. */
export interface Invocation {
  readonly context: CliContext
  readonly output: Output
  /** Whether it is to print JSON. */
  readonly json: boolean
  /** The result: as JSON when asked, else in words. */
  print(value: unknown, text: () => string): void
  /** How the command ends, where that is not 0. */
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

/** One argument stands for any number of them, a list for as many as it has. */
type Arguments = Argument | readonly Argument[]

type Value<F> = F extends { check: (value: string, flag: string) => infer V }
  ? V
  : F extends { kind: 'boolean' }
    ? boolean
    : F extends { values: readonly (infer V)[] }
      ? V
      : F extends { parse: (input: string) => infer V }
        ? V
        : never

/** The values of flags, each of which may be left out. */
export type Flags<S> = {
  readonly [K in keyof S]?: S[K] extends { variadic: unknown }
    ? readonly Value<S[K]>[]
    : Value<S[K]>
}

type Words<A> = A extends readonly Argument[]
  ? { -readonly [I in keyof A]: A[I] extends { optional: true } ? string | undefined : string }
  : string[]

interface Help {
  readonly brief: string
  readonly about?: string
  /** What to type, and what it means. */
  readonly usage?: readonly (readonly [input: string, brief: string])[]
}

export interface CommandSpec<S, A extends Arguments, I> extends Help {
  readonly args?: A
  readonly flags?: S
  /** What --json prints, where that is not the result. False for a command without it. */
  readonly json?: string | false
  /** Everything it prints for programs is one line, and so are its errors. */
  readonly isLines?: true
  run(invocation: I, flags: Flags<S>, ...args: Words<A>): Promise<void> | void
}

/** A command of which `open` makes what it works with, and takes care of it afterwards. */
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
      docs: helpOf(spec),
      parameters: defined({ positional, flags }) as never,
      async func(this: CliContext, { json = false, ...raw }: { json?: boolean }, ...words: never) {
        const output = new Output(this)
        const invocation = {
          context: this,
          output,
          json,
          print: (value: unknown, text: () => string) =>
            output.line(json ? JSON.stringify(value, undefined, 2) : text()),
          exit: (code: number) => {
            this.process.exitCode = code
          },
        }
        try {
          const given = readFlags(flags, raw)
          await open(invocation, (opened) => run(opened, given as never, ...words))
        } catch (error) {
          if (!json || exitCodeFor(error) === EXIT.defect) throw error
          output.line(JSON.stringify(errorJson(error), undefined, spec.isLines ? 0 : 2))
          // Set and not thrown: the parser would say a thrown one once more on standard error.
          this.process.exitCode = exitCodeFor(error)
        }
      },
    })
  }
}

/** A command that needs no project. */
export const defineCommand = commandFactory<Invocation>(async (invocation, work) =>
  work(invocation),
)

/** Commands under one name. */
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
    docs: { ...helpOf(spec), ...(hidden && { hideRoute: { [hidden]: true } }) },
  })
}

function helpOf({ brief, about, usage }: Help) {
  const customUsage = usage?.map(([input, brief]) => ({ input, brief }))
  return { brief, ...defined({ fullDescription: about, customUsage }) }
}

/** What was given, each flag checked where it says how. */
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

/** A flag as it is typed. */
export function flagName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** The flags of the command that a group stands for, since its help does not list them. */
export function listFlags(flags: FlagSpecs, width: number): readonly string[] {
  return Object.entries({ ...flags, json: { brief: JSON_BRIEF } }).map(
    ([name, { brief }]) => `  ${flagName(name).padEnd(width)}${brief}`,
  )
}

/** What a command about the project works with. */
export interface ProjectInvocation extends Invocation {
  readonly project: Project
  /** The session that a name on the command line means; a person is asked when it fits several. */
  pick(name: string | undefined): Promise<{ readonly session?: string }>
}

/** A command that works with the project. Which session is meant is asked where several fit. */
export const defineProjectCommand = commandFactory<ProjectInvocation>(async (invocation, work) => {
  const { context, output } = invocation
  const { AmbiguousSession, openProject } = await import('./lazy-library.ts')
  /** The sessions that names turned out to mean, so that nothing is asked twice. */
  const known = new Map<string, string>()

  const answerTo = async (error: unknown): Promise<string> => {
    if (!(error instanceof AmbiguousSession) || !context.canAsk) throw error
    const { askSession } = await import('./ask.ts')
    const chosen = await askSession(error.candidates)
    // Not the same error again, or a person who thought better of it would be asked once more.
    if (chosen === undefined) throw new StintError(error.code, error.message, error.hint)
    return chosen
  }

  const attempt = async (env: NodeJS.ProcessEnv) => {
    const project = openProject(context.cwd, {
      env,
      say: (line) => output.info(line),
      progress: (done, total) => output.progress(done, total),
    })
    const pick = async (name: string | undefined) => {
      if (name === undefined) return {}
      const session = known.get(name) ?? (await project.find(name).then((row) => row.id, answerTo))
      known.set(name, session)
      return { session }
    }
    try {
      await work({ ...invocation, project, pick })
    } catch (error) {
      throw await withSuggestions(project, error)
    } finally {
      project.dispose()
    }
  }

  try {
    await attempt(context.env)
  } catch (error) {
    // Names are known by now; what is left to ask is which session is the active one.
    await attempt({ ...context.env, STINT_SESSION: await answerTo(error) })
  }
})

/** Lets somebody else say what is said, as long as they draw; undefined gives it back. */
export type RedirectMessages = (say: ((line: string) => void) | undefined) => void

export interface RunInvocation extends Invocation {
  readonly project: Project
  readonly redirectMessages: RedirectMessages
}

export async function openForRuns(
  invocation: Invocation,
  work: (opened: RunInvocation) => Promise<void> | void,
): Promise<void> {
  const { context, output } = invocation
  const talk = (line: string) => output.info(line)
  let say = talk
  const { openProject } = await import('./lazy-library.ts')
  const project = openProject(context.cwd, { env: context.env, say: (line) => say(line) })
  try {
    await work({ ...invocation, project, redirectMessages: (by) => (say = by ?? talk) })
  } finally {
    project.dispose()
  }
}

/** A command about runs, which asks for no session. */
export const defineRunCommand = commandFactory(openForRuns)

const MOST = 3

/** The same error with the names that may have been meant, when it is about a name that is not there. */
export async function withSuggestions(project: Project, error: unknown): Promise<unknown> {
  const about = error instanceof StintError ? NOT_THERE.exec(error.message) : null
  if (!(error instanceof StintError) || about === null) return error
  const [, what, wanted = ''] = about
  const near = nearestNames(wanted, await namesOf(project, what))
  if (near.length === 0) return error
  return new StintError(
    error.code,
    `${error.message}; did you mean ${near.join(' or ')}?`,
    error.hint,
    { cause: error },
  )
}

const NOT_THERE = /^there is no (session, task or run|session|task|delegate) "(.*)"$/

async function namesOf(project: Project, what: string | undefined): Promise<ReadonlySet<string>> {
  try {
    if (what === 'delegate')
      return new Set((await project.delegates.recorded()).map(({ order }) => order.name))
    const tasks =
      what === 'session' ? [] : (await project.tasks.list()).tasks.map((task) => task.shortname)
    const sessions = what === 'task' ? [] : [...(await project.list())].map((row) => row.name)
    return new Set([...sessions, ...tasks])
  } catch {
    // The first error is the one to tell; without names to compare there is only nothing to add to it.
    return new Set()
  }
}

/** The names that differ least from the one wanted, the nearest first. */
export function nearestNames(wanted: string, names: Iterable<string>): readonly string[] {
  const text = wanted.toLowerCase()
  const most = Math.max(1, Math.floor(text.length / 3))
  const near: { name: string; away: number }[] = []
  for (const name of names) {
    const isPart = text.length >= 3 && name.includes(text)
    if (!isPart && Math.abs(name.length - text.length) > most) continue
    const away = isPart ? 1 : distance(text, name.toLowerCase())
    if (away <= most) near.push({ name, away })
  }
  return near
    .toSorted((a, b) => a.away - b.away || (a.name < b.name ? -1 : 1))
    .slice(0, MOST)
    .map(({ name }) => name)
}

/** How many letters have to be put in, left out, replaced, or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const differs = a[row - 1] === b[column - 1] ? 0 : 1
      const isSwapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      line.push(
        Math.min(
          last[column]! + 1,
          line[column - 1]! + 1,
          last[column - 1]! + differs,
          isSwapped ? beforeLast[column - 2]! + 1 : Infinity,
        ),
      )
    }
    beforeLast = last
    last = line
  }
  return last[b.length]!
}
