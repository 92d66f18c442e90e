import { expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import type { Message, MessagePart } from '../../src/history/items.ts'
import { importHistories } from '../../src/project/import/import-histories.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { ClaudeWorld } from './claude-world.ts'
import { CodexWorld } from './codex-world.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'a command' } })

function stored(project: string, conversation: string) {
  const items = [...conversationStore(`${project}/.sessions`, {}).read(conversation)]
  const messages = items.filter(
    (item): item is Message & { offset: number } => item.type === 'message',
  )
  return { items, messages, parts: messages.flatMap(({ parts }) => parts) }
}

const texts = (parts: readonly MessagePart[]) =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))

test('the transcripts of Claude Code are imported completely: tools, agents, usage and compactions', async () => {
  const world = await ClaudeWorld.create('2.1.325')
  const talk = world.talk()
  const { session_id: id } = await talk.say('hello')
  world.stub.script(
    { text: 'let me see', tools: [bash('echo one-$((1+1))'), bash('exit 3')] },
    { text: 'seen' },
  )
  await talk.say('look at it')
  const input = {
    description: 'look',
    prompt: 'look around',
    subagent_type: 'general-purpose',
    run_in_background: false,
  }
  world.stub.script(
    { tools: [{ name: 'Agent', input }] },
    { text: 'said by the agent' },
    { text: 'it is done' },
  )
  await talk.say('delegate it')
  await talk.say('/compact')
  await talk.say('and on')
  await talk.end()
  const workspace = new Workspace(world.project, { env: world.env })
  const report = await importHistories(workspace, { harnesses: ['claude'], env: world.env })
  expect(report).toMatchObject({
    damaged: 0,
    unread: [],
    conversations: [{ conversation: id, harness: 'claude' }],
  })
  const { items, messages, parts } = stored(world.project, id)
  expect(items[0]).toMatchObject({
    type: 'began',
    conversation: id,
    harness: 'claude',
    cwd: world.project,
  })
  expect(texts(parts)).toEqual(
    expect.arrayContaining(['hello', 'look at it', 'let me see', 'seen', 'it is done']),
  )
  const agents = messages.filter(({ agent }) => agent !== undefined)
  expect(texts(agents.flatMap((message) => message.parts))).toContain('said by the agent')
  const uses = parts.filter((part) => part.type === 'tool use')
  const results = parts.filter((part) => part.type === 'tool result')
  expect(uses.map(({ name }) => name)).toEqual(['Bash', 'Bash', 'Agent'])
  expect(results.map(({ use }) => use).sort()).toEqual(uses.map((use) => use.id).sort())
  expect(results.map(({ isError }) => isError)).toEqual([false, true, false])
  expect(texts(results[0]!.parts)[0]).toContain('one-2')
  expect(items.filter(({ type }) => type === 'compaction')).toHaveLength(1)
  expect(messages.filter(({ isSummary }) => isSummary)).toHaveLength(1)
  expect(
    messages.every(
      ({ role, usage, isFailure }) =>
        role !== 'assistant' || isFailure === true || usage !== undefined,
    ),
  ).toBe(true)
  const ids = new Set(items.flatMap((item) => ('id' in item ? [item.id] : [])))
  const broken = messages.filter(
    ({ parent, agent }) => agent === undefined && parent !== undefined && !ids.has(parent),
  )
  expect(broken).toEqual([])
  expect(await importHistories(workspace, { harnesses: ['claude'], env: world.env })).toMatchObject(
    {
      conversations: [],
      messages: 0,
    },
  )
})

test('the transcripts of Codex are imported completely', async () => {
  const world = await CodexWorld.create()
  world.stub.script(
    {
      text: 'let me see',
      tools: [{ name: 'exec_command', input: { cmd: 'echo one-$((1+1))' } }],
      inputTokens: 900,
      outputTokens: 20,
    },
    { text: 'seen', inputTokens: 60_000, outputTokens: 30 },
  )
  const conversation = await world.harness.open(world.open)
  for await (const _event of conversation.prompt('look at it')) continue
  for await (const _event of conversation.prompt('and on')) continue
  const id = conversation.id!
  await conversation.close()
  const workspace = new Workspace(world.project, { env: world.env })
  const report = await importHistories(workspace, { harnesses: ['codex'], env: world.env })
  expect(report).toMatchObject({
    damaged: 0,
    unread: [],
    conversations: [{ conversation: id, harness: 'codex', isNew: true }],
  })
  const { items, messages, parts } = stored(world.project, id)
  expect(texts(parts)).toEqual(
    expect.arrayContaining(['look at it', 'let me see', 'seen', 'and on']),
  )
  const use = parts.find((part) => part.type === 'tool use')
  const result = parts.find((part) => part.type === 'tool result')
  expect(use).toMatchObject({ name: 'exec_command', input: { cmd: 'echo one-$((1+1))' } })
  expect(result).toMatchObject({ use: use!.id, isError: false })
  expect(texts(result!.parts)[0]).toContain('one-2')
  expect(items.filter(({ type }) => type === 'compaction')).toHaveLength(1)
  expect(messages.find((message) => texts(message.parts).includes('seen'))?.usage).toMatchObject({
    input: 60_000,
    output: 30,
  })
})
