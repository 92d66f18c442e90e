import type { SessionRow } from '../../library.ts'
import { shortId } from '../../public.ts'
import { confirm, isCancel, select, text } from '@clack/prompts'

/** Asks which of several sessions is meant. Undefined when the person thinks better of it. */
export async function askSession(candidates: readonly SessionRow[]): Promise<string | undefined> {
  const answer = await select({
    message: 'Which session?',
    options: candidates.map((row) => ({
      value: row.id,
      label: `${row.name} (${shortId(row.id)})`,
      hint: [row.status, row.branch ?? '', row.goal].filter((part) => part !== '').join(', '),
    })),
  })
  return isCancel(answer) ? undefined : answer
}

/** Asks one question. Undefined when the person thinks better of it. */
export async function askForText(
  message: string,
  placeholder: string,
): Promise<string | undefined> {
  const answer = await text({ message, placeholder, defaultValue: '' })
  return isCancel(answer) ? undefined : answer
}

export async function askYes(message: string): Promise<boolean> {
  const answer = await confirm({ message })
  return answer === true
}

/** The same, for whoever has to tell a no from somebody who thinks better of it all, which is undefined. */
export async function askYesOrNo(message: string): Promise<boolean | undefined> {
  const answer = await confirm({ message })
  return isCancel(answer) ? undefined : answer
}

export async function askChoice<T extends string>(
  message: string,
  choices: readonly { value: T; label: string }[],
): Promise<T | undefined> {
  const answer = await select({ message, options: choices as never })
  return isCancel(answer) ? undefined : (answer as T)
}
