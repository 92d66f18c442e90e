import { expect, test } from 'vitest'
import { showPrompt } from '../../src/cli/print/show-prompt.ts'
import type { CliContext } from '../../src/cli/context/context.ts'
import type { PromptEvent } from '../../src/run/prompt/prompt-events.ts'

const SPEND = { input: 1, cacheWritten: 0, cacheRead: 0, output: 1 }

test('a restarted answer is announced and then printed once, in full', async () => {
  const printed = { stdout: '', stderr: '' }
  const into = (stream: 'stdout' | 'stderr') => ({
    write: (text: string) => void (printed[stream] += text),
  })
  const context = {
    process: { stdout: into('stdout'), stderr: into('stderr') },
    canAsk: false,
    hasColour: false,
  }
  const last = { how: 'completed', spend: SPEND, seconds: 1 } as const
  await showPrompt(context as unknown as CliContext, {}, async (tell) => {
    const events = [
      { kind: 'anew', data: {} },
      { kind: 'delta', data: { text: 'I beg' } },
      { kind: 'anew', data: {} },
      { kind: 'delta', data: { text: 'I begin ' } },
      { kind: 'text', data: { text: 'I begin again.' } },
      { kind: 'prompt.ended', data: last },
    ]
    for (const [at, event] of events.entries())
      tell({ at: '', number: at + 1, ...event } as PromptEvent)
    return {
      id: '',
      session: '',
      decide: () => false,
      interrupt: async () => undefined,
      ended: Promise.resolve(last),
    }
  })
  expect(printed.stdout).toBe('I beg\nI begin again.\n')
  expect(printed.stderr.match(/the answer broke off, and begins anew/g)).toHaveLength(1)
})
