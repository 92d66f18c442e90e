import { expect, test } from 'vitest'
import { summarise } from '../../src/history/summary.ts'
import { textMessage } from './items.ts'

const used = (output: number) => ({ input: 10, cacheWritten: 0, cacheRead: 5, output })
const answer = (id: string, request: string, output: number, more = {}) =>
  textMessage(id, { role: 'assistant', model: 'm1', request, usage: used(output), ...more })

test('a conversation is summarised with harness, times, message count and title', () => {
  const items = [
    {
      type: 'began',
      conversation: 'c',
      harness: 'claude',
      at: '2026-01-01T00:00:00.000Z',
      cwd: '/p',
    } as const,
    textMessage('<command-name>/init</command-name>'),
    textMessage('note', { isMeta: true }),
    textMessage('fix\nthe \u001B[31mbug', { at: '2026-01-01T00:01:00.000Z' }),
    answer('a1', 'r1', 1),
    answer('a2', 'r1', 20),
    answer('sub', 'r2', 3, { agent: 'x', model: 'm2' }),
    { type: 'compaction', id: 'c1', at: '2026-01-01T00:02:00.000Z' } as const,
    textMessage('in short', { isSummary: true }),
    textMessage('API Error', { role: 'assistant', isFailure: true }),
    { type: 'ended', at: '2026-01-01T00:03:00.000Z', reason: 'logout' } as const,
  ]
  expect(summarise(items)).toEqual({
    harness: 'claude',
    model: 'm1',
    cwd: '/p',
    startedAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:03:00.000Z',
    endedBecause: 'logout',
    messages: 3,
    compactions: 1,
    title: 'fix the bug',
    usage: { m1: used(20), m2: used(3) },
  })
  // Copied after the end, though sent before it.
  expect(
    summarise([...items, textMessage('late', { at: '2026-01-01T00:02:30.000Z' })]),
  ).toHaveProperty('endedBecause', 'logout')
  expect(summarise([...items, textMessage('go on')])).not.toHaveProperty('endedBecause')
  expect(summarise([])).toEqual({ messages: 0, compactions: 0, title: '', usage: {} })
})

test.each([
  [
    '<stint-session name="a">\nfix <b> & </stint-x>\n</stint-session>\n\nfix the login',
    'fix the login',
  ],
  [
    '<stint-session name="a">\nx\n</stint-session>\n\n<stint-file path="p">\ny\n</stint-file>\n<b>why</b> so',
    '<b>why</b> so',
  ],
  ['<div> is not centred', '<div> is not centred'],
  ['<commander> fails', '<commander> fails'],
  ['<system-reminder>\nit is late\n</system-reminder>', ''],
  ['<stint-session name="a">\ncut off', ''],
  ['<command-message>init</command-message>\n<command-name>/init</command-name>', ''],
  ['<task-notification>\n<id>1</id>\n</task-notification>\nRead the output file', ''],
  ['<environment_context>\n<cwd>/p</cwd>\n</environment_context>', ''],
])('%j has the title %j', (prompt, title) => {
  expect(summarise([textMessage(prompt)]).title).toBe(title)
})
