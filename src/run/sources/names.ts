// What tasks from outside are called. A name must not come to mean another task when lines are added or moved while a run
// goes on, so it depends on the task alone; where two would share one, neither has it.
import { createHash } from 'node:crypto'
import { slug } from '../../text/clean.ts'
import { shortnameFor } from '../../backlog/canonical.ts'

export const LONGEST_ID = 80

// No slash, no blank, and nothing in front that a program would take for an option.
const OWN_ID = /^[\p{L}\p{N}][\p{L}\p{N}._:-]*$/u

/** Whether a text can be the id of a task in its source. */
export function isOwnId(text: string): boolean {
  return text.length <= LONGEST_ID && OWN_ID.test(text)
}

export const ID_RULE = `letters, digits and . _ : - only, a letter or digit first, at most ${LONGEST_ID} characters`

export interface Called {
  readonly own: string
  /** What people would say. */
  readonly name: string
}

/** A short name for each, by its own id. */
export function shortnames(tasks: readonly Called[]): ReadonlyMap<string, string> {
  const said = tasks.map((task) => shortnameFor(task.name))
  const whole = tasks.map((task) => shortnameFor(task.own))
  const saidBy = counted(said)
  const wholeBy = counted(whole)
  return new Map(
    tasks.map(({ own }, index) => {
      if (saidBy.get(said[index]!) === 1) return [own, said[index]!]
      if (wholeBy.get(whole[index]!) === 1 && !saidBy.has(whole[index]!))
        return [own, whole[index]!]
      return [own, `${slug(said[index]!, 33)}-${fingerprint(own)}`]
    }),
  )
}

export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6)
}

function counted(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
