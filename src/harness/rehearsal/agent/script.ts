// Mistakes are reported with file and line: a skipped act would look like a fault of the run.
import { basename } from 'node:path'
import { LineCounter, type Node, type Pair, isMap, isScalar, isSeq } from 'yaml'
import { StintError } from '../../../journal/errors.ts'
import { readOrUndefined } from '../../../journal/read-files.ts'
import { oneLine, shorten, slug } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { parseYaml } from '../../../text/parse-yaml.ts'

type ScriptedTurn = readonly Act[]

export interface Script {
  /** The last turn repeats. */
  readonly tasks: Readonly<Record<string, readonly ScriptedTurn[]>>
  readonly default?: readonly ScriptedTurn[]
  readonly window: number
  readonly start: number
}

const DEFAULT_SCRIPT: Script = { tasks: {}, window: 200_000, start: 20_000 }

const TEXTS = [
  'say',
  'run',
  'ask',
  'commit',
  'done',
  'blocked',
  'failed',
  'lie',
  'fail',
  'limit',
] as const
const FILES = ['write', 'append'] as const
const AMOUNTS = ['usage', 'wait'] as const
const FLAGS = ['compact', 'hang', 'die'] as const

export type Act =
  | { readonly do: (typeof TEXTS)[number]; readonly text: string }
  | { readonly do: (typeof FILES)[number]; readonly path: string; readonly text: string }
  | { readonly do: (typeof AMOUNTS)[number]; readonly amount: number }
  | { readonly do: (typeof FLAGS)[number] }

const ACTS: readonly string[] = [...TEXTS, ...FILES, ...AMOUNTS, ...FLAGS]

/** A script for many tasks is long, and only the user names one. */
const MAX_SCRIPT_LENGTH = 1024 * 1024

export function parseScript(text: string, path: string): Script {
  const lines = new LineCounter()
  const options = { lineCounter: lines, prettyErrors: false, maxLength: MAX_SCRIPT_LENGTH }
  const parsed = parseYaml(text, options)
  const reader = new ScriptReader((offset) => lines.linePos(offset).line)
  if (!parsed.isValid)
    for (const { offset, message } of parsed.mistakes) reader.addMistake(offset, message)
  const script = parsed.isValid ? reader.script(parsed.document.contents) : undefined
  if (script !== undefined && reader.mistakes.length === 0) return script
  const messages = reader.mistakes.map(({ line, mistake }) => `${path}:${line}: ${mistake}`)
  throw new StintError(
    'SCRIPT_INVALID',
    messages.join('\n'),
    'stint rehearsal --help says what a script has',
  )
}

class ScriptReader {
  readonly mistakes: { line: number; mistake: string }[] = []
  readonly #lineAt: (offset: number) => number

  constructor(lineAt: (offset: number) => number) {
    this.#lineAt = lineAt
  }

  addMistake(at: number | Node | null | undefined, mistake: string): undefined {
    const offset = typeof at === 'number' ? at : (at?.range?.[0] ?? 0)
    this.mistakes.push({ line: this.#lineAt(offset), mistake })
  }

  script(node: unknown): Script | undefined {
    if (!isMap(node))
      return this.addMistake(node as Node | null, 'a script has tasks, default, window and start')
    const tasks: Record<string, readonly ScriptedTurn[]> = Object.create(null) as never
    let { window, start } = DEFAULT_SCRIPT
    let otherwise: readonly ScriptedTurn[] | undefined
    for (const { key, value } of node.items as Pair<Node, Node | null>[]) {
      const name = keyName(key)
      if (name === 'tasks') this.#tasks(value, tasks)
      else if (name === 'default') otherwise = this.#turns(value, 'default')
      else if (name === 'window') window = this.#amount(value, 'window') ?? window
      else if (name === 'start') start = this.#amount(value, 'start') ?? start
      else
        this.addMistake(key, `a script has no "${name}"; it has tasks, default, window and start`)
    }
    if (start > window)
      this.addMistake(node, `it starts with ${start} tokens in a window of ${window}`)
    return { tasks, window, start, ...defined({ default: otherwise }) }
  }

  #tasks(node: Node | null, tasks: Record<string, readonly ScriptedTurn[]>) {
    if (!isMap(node)) return this.addMistake(node, 'tasks are named: each has a list of turns')
    for (const { key, value } of node.items as Pair<Node, Node | null>[]) {
      tasks[keyName(key)] = this.#turns(value, `task ${keyName(key)}`)
    }
  }

  #turns(node: Node | null, owner: string) {
    if (!isSeq(node)) {
      this.addMistake(node, `${owner} has a list of turns, each a list of acts`)
      return []
    }
    const items = node.items as (Node | null)[]
    return items.some((item) => isSeq(item))
      ? items.map((item) => this.#turn(item, owner))
      : [this.#turn(node, owner)]
  }

  #turn(node: Node | null, owner: string) {
    if (isSeq(node)) return (node.items as (Node | null)[]).flatMap((item) => this.#act(item) ?? [])
    this.addMistake(node, `a turn of ${owner} is a list of acts`)
    return []
  }

  #act(node: Node | null) {
    const [pair, ...others] = isMap(node) ? (node.items as Pair<Node, Node | null>[]) : []
    if (pair === undefined || others.length > 0)
      return this.addMistake(node, 'an act is one thing, such as "say: I look first."')
    const name = keyName(pair.key)
    const { value } = pair
    if (isOneOf(TEXTS, name)) return this.#textAct(name, value)
    if (isOneOf(FILES, name)) return this.#fileAct(name, value)
    if (isOneOf(AMOUNTS, name)) return amountAct(name, this.#amount(value, name))
    if (isOneOf(FLAGS, name))
      return isScalar(value) && value.value === true
        ? { do: name }
        : this.addMistake(value, `write "${name}: true"`)
    return this.addMistake(pair.key, `there is no act "${name}"; there are ${ACTS.join(', ')}`)
  }

  #textAct(name: (typeof TEXTS)[number], value: Node | null) {
    const text = this.#text(value, name)
    if (text === undefined) return undefined
    if (name === 'limit' && Number.isNaN(Date.parse(text)))
      return this.addMistake(value, `"${text}" is no moment; write one like 2030-01-31T12:00:00Z`)
    return { do: name, text }
  }

  #fileAct(name: (typeof FILES)[number], value: Node | null) {
    const fields = isMap(value)
      ? new Map(
          (value.items as Pair<Node, Node | null>[]).map((pair) => [keyName(pair.key), pair.value]),
        )
      : undefined
    if (fields === undefined || [...fields.keys()].toSorted().join() !== 'path,text')
      return this.addMistake(
        value,
        `${name} has a path and a text: "${name}: { path: notes.md, text: Hello }"`,
      )
    const path = this.#text(fields.get('path') ?? null, 'path')
    const text = this.#text(fields.get('text') ?? null, 'text')
    return path === undefined || text === undefined ? undefined : { do: name, path, text }
  }

  #text(node: Node | null, name: string) {
    if (isScalar(node) && ['string', 'number', 'boolean'].includes(typeof node.value))
      return String(node.value)
    return this.addMistake(node, `${name} is a text`)
  }

  #amount(node: Node | null, name: string) {
    if (isScalar(node) && Number.isSafeInteger(node.value) && Number(node.value) >= 0)
      return Number(node.value)
    return this.addMistake(node, `${name} is a whole number from 0 on`)
  }
}

function amountAct(name: (typeof AMOUNTS)[number], amount: number | undefined) {
  return amount === undefined ? undefined : { do: name, amount }
}

function keyName(key: Node) {
  return isScalar(key) ? String(key.value) : ''
}

function isOneOf<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name)
}

export function loadScript(path: string | undefined): Script {
  if (path === undefined) return DEFAULT_SCRIPT
  const bytes = readOrUndefined(path)
  if (bytes === undefined)
    throw new StintError(
      'SCRIPT_INVALID',
      `there is no script ${path}`,
      'give the path of a YAML or JSON file',
    )
  return parseScript(bytes.toString('utf8'), path)
}

export interface PromptedTask {
  readonly name: string
  readonly title: string
}

export function taskFromPrompt(prompt: string): PromptedTask | undefined {
  const match = /^# Task (\S+?):(?=\s|$)[^\S\n]*([^\n]*)/.exec(prompt)
  return match === null ? undefined : { name: match[1]!, title: oneLine(match[2]!) }
}

export function scriptedTurn(
  script: Script,
  task: PromptedTask | undefined,
  turn: number,
): ScriptedTurn {
  const isNamed = task !== undefined && Object.hasOwn(script.tasks, task.name)
  const turns = isNamed ? script.tasks[task.name] : script.default
  if (turns !== undefined) return turns[Math.min(turn, turns.length) - 1] ?? []
  return task === undefined
    ? [{ do: 'say', text: 'There is no task in this prompt.' }]
    : defaultTurn(task, turn)
}

function defaultTurn({ name, title }: PromptedTask, turn: number): ScriptedTurn {
  const file = /^[\w-][\w.-]*$/.test(basename(name)) && basename(name) === name ? name : slug(name)
  return [
    { do: 'say', text: shorten(`I rehearse ${name}.`, 200) },
    {
      do: 'write',
      path: `rehearsal/${file}.md`,
      text: `# ${name}\n\n${title}\n\nRehearsed in turn ${turn}.\n`,
    },
    { do: 'commit', text: `rehearse ${name}` },
    { do: 'usage', amount: 8000 },
    { do: 'done', text: `Rehearsed ${name}.` },
  ]
}
