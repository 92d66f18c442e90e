import type { ConversationBudget } from '../../../library.ts'
import { buildCommand } from '@stricli/core'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../context/context.ts'
import { budgetJson, describeBudget, describeBudgetShortly } from '../../print/budget.ts'
import { json, optionalName, toggle } from '../../context/flags.ts'
import { Interrupt } from '../../context/interrupt.ts'
import type { Output } from '../../context/output.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly watch?: boolean
  readonly json?: boolean
}

const EVERY_MS = 1000
const MEGABYTE = 1024 * 1024
/** Smaller transcripts are read before a person could read that they are. */
const WORTH_SAYING = 50 * MEGABYTE

export const budget = buildCommand<Flags, [string?], Context>({
  docs: {
    brief: 'Show how full a conversation is, and what it has used',
    fullDescription:
      'Tokens in the context, the window, the point at which the agent program compacts and the way to it, age, cost and the limits of\nthe account. Each figure says how it is known: measured, estimated or unknown, by whom and since when.',
    customUsage: [
      {
        input: '',
        brief: 'the conversation around this command, or the last one of the session here',
      },
      { input: 'fix-auth', brief: 'the last conversation of a session' },
      { input: '--watch', brief: 'drawn anew as it changes, until Ctrl-C' },
      { input: '--json', brief: 'for programs' },
    ],
  },
  parameters: {
    positional: optionalName(
      'A session, or a conversation by its id or the beginning of it',
      'NAME',
    ),
    flags: { watch: toggle('Go on and show each change, until Ctrl-C'), json },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output) => {
      const read = () =>
        project.budget({
          ...defined({ of: name }),
          progress: (done, size) => sayReading(output, done, size),
        })
      if (flags.watch === true) return watch(this, output, flags, read)
      const found = await read()
      output.result(flags.json, budgetJson(found), () => describeBudget(found, output))
    })
  },
})

function sayReading(output: Output, done: number, size: number): void {
  if (size < WORTH_SAYING) return
  output.progress(
    Math.round(done / MEGABYTE),
    Math.round(size / MEGABYTE),
    'megabytes of transcript',
  )
}

/** On a terminal the picture is drawn again in its place; elsewhere each change is a line. */
async function watch(
  context: Context,
  output: Output,
  flags: Flags,
  read: () => Promise<ConversationBudget>,
): Promise<void> {
  const isTerminal = (context.process.stdout as { readonly isTTY?: boolean }).isTTY === true
  const interrupt = new Interrupt('SIGINT', 'SIGTERM')
  for (let shown = ''; !interrupt.signal.aborted;) {
    const found = await read()
    // Times go on by themselves and are no news.
    const words =
      flags.json === true
        ? JSON.stringify(budgetJson(found))
        : isTerminal
          ? describeBudget(found, output)
          : describeBudgetShortly(found)
    const news =
      flags.json === true ? JSON.stringify({ ...budgetJson(found), now: undefined }) : words
    if (news !== shown)
      output.line(isTerminal && flags.json !== true ? `\u001B[H\u001B[2J${words}` : words)
    shown = news
    const next = sleep(EVERY_MS, undefined, { signal: interrupt.signal })
    // The interrupt ends the wait.
    await next.catch(() => undefined)
  }
}
