// How a command is written: its words, its flags and what it does. What is the same for all of them is here.
import { type Command, type RouteMap, buildCommand, buildRouteMap } from '@stricli/core'
import { defined } from '../../text/defined.ts'
import type { Context } from './context.ts'
import { toggle } from './flags.ts'
import { Output, withJsonErrors } from './output.ts'

const JSON_BRIEF = 'Print the result as JSON'

/** What every command works with. */
export interface Invocation {
  readonly context: Context
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
  readonly proposeCompletions?: (this: Context, partial: string) => Promise<readonly string[]>
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
export function commandWith<I>(
  open: (invocation: Invocation, work: (opened: I) => Promise<void> | void) => Promise<void>,
) {
  return <const S extends FlagSpecs = {}, const A extends Arguments = []>(
    spec: CommandSpec<S, A, I>,
  ): Command<Context> => {
    const { args, run, json = JSON_BRIEF } = spec
    const flags = { ...spec.flags, ...(json && { json: toggle(json) }) }
    const positional = Array.isArray(args)
      ? { kind: 'tuple', parameters: args }
      : args && { kind: 'array', parameter: args }
    return buildCommand({
      docs: helpOf(spec),
      parameters: defined({ positional, flags }) as never,
      async func(this: Context, { json = false, ...raw }: { json?: boolean }, ...words: never) {
        const output = new Output(this)
        const invocation = {
          context: this,
          output,
          json,
          print: (value: unknown, text: () => string) => output.result(json, value, text),
          exit: (code: number) => {
            this.process.exitCode = code
          },
        }
        const work = async () => {
          const given = readFlags(flags, raw)
          await open(invocation, (opened) => run(opened, given as never, ...words))
        }
        await withJsonErrors(this, { json }, output, work, spec.isLines ? 0 : 2)
      },
    })
  }
}

/** A command that needs no project. */
export const command = commandWith<Invocation>(async (invocation, work) => work(invocation))

/** Commands under one name. */
export function commandGroup(
  spec: Help & {
    readonly routes: Readonly<Record<string, Command<Context> | RouteMap<Context>>>
    readonly default?: string
    readonly hidden?: string
  },
): RouteMap<Context> {
  const { routes, hidden, default: defaultCommand } = spec
  return buildRouteMap<string, Context>({
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
