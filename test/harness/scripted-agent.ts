// An agent that works tasks as it is asked to. What it does next follows from what stands in the request alone, so that it
// goes on rightly after a retry, a restart or a compaction.

/** What the newest prompt about a task asks, and how far the turn is since. */
export interface Asked {
  readonly task: string
  readonly prompt: string
  /** Results of tools since the prompt. */
  readonly results: number
}

export type Step =
  /** A command in a shell; it is not said before `after` settles. */
  | { readonly run: string; readonly tokens?: number; readonly after?: Promise<unknown> }
  | { readonly read: string }
  | { readonly write: string; readonly text: string }
  /** The turn is over. */
  | { readonly say: string; readonly tokens?: number }
  /** No answer, ever. */
  | { readonly hang: true }

/** Which of the texts about a task this is. */
export type Occasion =
  | 'task'
  | 'not done'
  | 'broken off'
  | 'begun earlier'
  | 'no report'
  | 'compacted'

const OCCASIONS: readonly (readonly [string, Occasion])[] = [
  ['This task was begun in an earlier conversation.', 'begun earlier'],
  ['The conversation was compacted in the middle of this task.', 'compacted'],
  ['This task is not done yet.', 'not done'],
  ['The turn was broken off', 'broken off'],
  ['The turn ended without a report.', 'no report'],
]

/** What is done in a turn about a task; undefined where it is done like any other. */
export type Way = (occasion: Occasion, task: string, prompt: string) => readonly Step[] | undefined

export class ScriptedAgent {
  readonly #ways: Readonly<Record<string, Way>>
  readonly #otherwise: Step[]

  /** By the names of tasks; and what is done, one by one, where no task is asked for. */
  constructor(ways: Readonly<Record<string, Way>> = {}, otherwise: readonly Step[] = []) {
    this.#ways = ways
    this.#otherwise = [...otherwise]
  }

  next(asked: Asked | undefined): Step {
    if (asked === undefined)
      return this.#otherwise.shift() ?? { say: 'I do not know what I am to do.' }
    const { task, prompt, results } = asked
    const occasion = OCCASIONS.find(([words]) => prompt.includes(words))?.[1] ?? 'task'
    const steps = this.#ways[task]?.(occasion, task, prompt) ?? [...working(task), reporting(task)]
    return steps[results] ?? { say: `That was ${task}.` }
  }
}

/** The task of a text that is about one. */
export function taskIn(text: string): string | undefined {
  return /^# Task (\S+):/.exec(text)?.[1]
}

/** Does the work and commits it, once however often it is done. */
export function working(task: string, text = 'right'): readonly Step[] {
  return [
    { run: `echo ${text} > ${task}.txt` },
    {
      run: `git add ${task}.txt && (git diff --cached --quiet || git commit --quiet --message "do ${task}")`,
    },
  ]
}

export function reporting(task: string): Step {
  return { run: `stint task done ${task} --summary "${task} is written"` }
}
