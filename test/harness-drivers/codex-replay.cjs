#!/usr/bin/env node
// Replays what Codex 0.166.0 sent when a thread was resumed, but with the earlier usage first,
// which the protocol does not rule out.
const { createInterface } = require('node:readline')

const thread = '01a1e083-1bc2-7602-b5ec-a7e906c774c3'
const breakdown = (inputTokens, outputTokens) => ({
  totalTokens: inputTokens + outputTokens,
  inputTokens,
  outputTokens,
})
const tokens = (turnId, total, last) => ({
  method: 'thread/tokenUsage/updated',
  params: { threadId: thread, turnId, tokenUsage: { total, last, modelContextWindow: 190_000 } },
})
const turn = (status) => ({ id: 'now', items: [], status, error: null })

const answers = {
  initialize: () => [{ userAgent: 'stint/0.166.0', codexHome: '/nowhere' }],
  'thread/resume': () => [{ thread: { id: thread }, model: 'stub-model' }],
  'turn/start': () => [
    { turn: turn('inProgress') },
    { method: 'turn/started', params: { threadId: thread, turn: turn('inProgress') } },
    tokens('now', breakdown(26_500, 150), breakdown(300, 50)),
    { method: 'turn/completed', params: { threadId: thread, turn: turn('completed') } },
  ],
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const [result, ...notifications] = answers[method]?.() ?? [{}]
  const past = tokens('before', breakdown(26_200, 100), breakdown(100, 20))
  if (method === 'thread/resume') process.stdout.write(`${JSON.stringify(past)}\n`)
  const lines = id === undefined ? [] : [{ id, result }, ...notifications]
  process.stdout.write(lines.map((message) => `${JSON.stringify(message)}\n`).join(''))
})
