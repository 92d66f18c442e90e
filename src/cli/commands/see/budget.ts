import { setTimeout as sleep } from 'node:timers/promises'
import { defined } from '../../../text/defined.ts'
import { optionalArgument, toggle } from '../../context/flags.ts'
import { Interrupt } from '../../context/context.ts'
import { defineProjectCommand } from '../../context/command.ts'
import { budgetJson, describeBudget, describeBudgetBriefly } from '../../print/budget.ts'

const EVERY_MS = 1000
const MEGABYTE = 1024 * 1024
/** Smaller transcripts are read before a person could read that they are. */
const WORTH_SAYING = 50 * MEGABYTE

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
      const [read, all] = [Math.round(done / MEGABYTE), Math.round(size / MEGABYTE)]
      if (size >= WORTH_SAYING) output.progress(read, all, 'megabytes of transcript')
    }
    const read = () => project.budget({ ...defined({ of }), progress })
    if (!watch) {
      const found = await read()
      return print(budgetJson(found), () => describeBudget(found, output))
    }
    // On a terminal the picture is drawn again in its place; elsewhere each change is a line.
    const isTerminal = (context.process.stdout as { readonly isTTY?: boolean }).isTTY === true
    const interrupt = new Interrupt('SIGINT', 'SIGTERM')
    for (let shown = ''; !interrupt.signal.aborted;) {
      const found = await read()
      const value = budgetJson(found)
      const words = isTerminal ? describeBudget(found, output) : describeBudgetBriefly(found)
      // Times go on by themselves and are no news.
      const news = json ? JSON.stringify({ ...value, now: undefined }) : words
      if (news !== shown)
        output.line(json ? JSON.stringify(value) : isTerminal ? `\u001B[H\u001B[2J${words}` : words)
      shown = news
      const next = sleep(EVERY_MS, undefined, { signal: interrupt.signal })
      // The interrupt ends the wait.
      await next.catch(() => undefined)
    }
  },
})
