// A scripted agent that works tasks. Its next step depends only on the request, so that it
// continues correctly after a retry, a restart or a compaction.

/** What the newest prompt with a task asks, and how far the turn has come. */
export interface Asked {
  readonly task: string
  readonly prompt: string
  /** Tool results since the prompt. */
  readonly results: number
}

export type Step =
  /** A shell command; it is not sent before `after` resolves. */
  | { readonly run: string; readonly tokens?: number; readonly after?: Promise<unknown> }
  | { readonly read: string }
  | { readonly write: string; readonly text: string }
  /** Ends the turn. */
  | { readonly say: string; readonly tokens?: number }
  /** Never replies. */
  | { readonly hang: true }

/** Which of the prompts about a task this is. */
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

/** What to do in a turn about a task; undefined for the default. */
export type Way = (occasion: Occasion, task: string, prompt: string) => readonly Step[] | undefined

export class ScriptedAgent {
  readonly #ways: Readonly<Record<string, Way>>
  readonly #otherwise: Step[]

  /** By task name; and the steps to take, one by one, where no task is asked for. */
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

/** The task that a text is about. */
export function taskIn(text: string): string | undefined {
  return /^# Task (\S+):/.exec(text)?.[1]
}

/** Does the work and commits it, once however often it runs. */
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
