import { setTimeout as sleep } from 'node:timers/promises'
import { defined } from '../../../text/defined.ts'
import { optionalArgument, toggle } from '../../context/flags.ts'
import { Interrupt } from '../../context/context.ts'
import { defineProjectCommand } from '../../context/command.ts'
import { printableJson } from '../../../text/printable.ts'
import { trusted } from '../../context/trusted-output.ts'
import { budgetJson, describeBudget, describeBudgetBriefly } from '../../print/budget.ts'

const CLEAR_SCREEN = trusted('\u001B[H\u001B[2J')
const POLL_MS = 1000
const MEGABYTE = 1024 * 1024
/** Smaller transcripts are read too fast for a progress line. */
const PROGRESS_FROM_BYTES = 50 * MEGABYTE

export const budget = defineProjectCommand({
  brief: 'Show how full a conversation is, and what it has used',
  about:
    'Tokens in the context, the window, the point at which the agent program compacts and the way to it, age, cost and the limits of\nthe account. Each figure says how it is known: measured, estimated or unknown, by whom and since when.',
  usage: [
    ['', 'the conversation around this command, or the last one of the session here'],
    ['fix-auth', 'the last conversation of a session'],
    ['--watch', 'drawn anew as it changes, until Ctrl-C'],
    ['--json', 'for programs'],
  ],
  args: [optionalArgument('A session, or a conversation by its id or the beginning of it', 'NAME')],
  flags: { watch: toggle('Go on and show each change, until Ctrl-C') },
  async run({ project, output, print, json, context }, { watch }, of) {
    const progress = (done: number, size: number) => {
      const [read, total] = [Math.round(done / MEGABYTE), Math.round(size / MEGABYTE)]
      if (size >= PROGRESS_FROM_BYTES) output.progress(read, total, 'megabytes of transcript')
    }
    const read = () => project.budget({ ...defined({ of }), progress })
    if (!watch) {
      const conversationBudget = await read()
      return print(budgetJson(conversationBudget), () => describeBudget(conversationBudget, output))
    }
    // On a terminal the view is redrawn in place; elsewhere each change is a line.
    const isTerminal = (context.process.stdout as { readonly isTTY?: boolean }).isTTY === true
    const interrupt = new Interrupt('SIGINT', 'SIGTERM')
    for (let previous = ''; !interrupt.signal.aborted;) {
      const conversationBudget = await read()
      const value = budgetJson(conversationBudget)
      const text = isTerminal
        ? describeBudget(conversationBudget, output)
        : describeBudgetBriefly(conversationBudget)
      // The clock alone is not a change.
      const current = json ? JSON.stringify({ ...value, now: undefined }) : text
      if (current !== previous)
        output.line(json ? printableJson(value) : isTerminal ? `${CLEAR_SCREEN}${text}` : text)
      previous = current
      const next = sleep(POLL_MS, undefined, { signal: interrupt.signal })
      // Aborted by the interrupt.
      await next.catch(() => undefined)
    }
  },
})
