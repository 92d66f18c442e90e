import type { SessionRow } from '../../library.ts'
import { shortId } from '../../public/projection.ts'
import { printable, printableLine } from '../../text/printable.ts'
import { confirm, isCancel, select, text } from '@clack/prompts'

// The prompts write to the terminal themselves, so every text of theirs is cleaned here.

/** Undefined when the user cancels. */
export async function askSession(sessions: readonly SessionRow[]): Promise<string | undefined> {
  const answer = await select({
    message: 'Which session?',
    options: sessions.map((row) => ({
      value: row.id,
      label: printableLine(`${row.name} (${shortId(row.id)})`),
      hint: printableLine(
        [row.status, row.branch ?? '', row.goal].filter((part) => part !== '').join(', '),
      ),
    })),
  })
  return isCancel(answer) ? undefined : answer
}

/** Undefined when the user cancels. */
export async function askForText(
  message: string,
  placeholder: string,
): Promise<string | undefined> {
  const answer = await text({
    message: printable(message),
    placeholder: printableLine(placeholder),
    defaultValue: '',
  })
  return isCancel(answer) ? undefined : answer
}

export async function askYes(message: string): Promise<boolean> {
  const answer = await confirm({ message: printable(message) })
  return answer === true
}

/** Undefined when the user cancels, which is not a no. */
export async function askYesOrNo(message: string): Promise<boolean | undefined> {
  const answer = await confirm({ message: printable(message) })
  return isCancel(answer) ? undefined : answer
}

export async function askChoice<T extends string>(
  message: string,
  choices: readonly { value: T; label: string }[],
): Promise<T | undefined> {
  const answer = await select({
    message: printable(message),
    options: choices.map((choice) => ({ ...choice, label: printableLine(choice.label) })) as never,
  })
  return isCancel(answer) ? undefined : (answer as T)
}
