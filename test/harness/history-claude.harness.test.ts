import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PIXEL } from '../history/items.ts'
import { ClaudeWorld } from './claude-world.ts'

type Block = { readonly type: string } & Readonly<Record<string, unknown>>
type SentMessage = { readonly role: string; readonly content: string | readonly Block[] }

/**
 * The messages of a request, without equivalent variations: a text in place of a block, `is_error:
 * false`, cache marks, two user messages in a row, a line end after a text, system text in one
 * block or several.
 */
function plain(messages: readonly SentMessage[]): readonly SentMessage[] {
  const merged: { role: string; content: readonly Block[] }[] = []
  for (const { role, content } of messages) {
    const kept = role === 'system' ? inOne(blocks(content)) : blocks(content)
    const last = merged.at(-1)
    if (role === 'user' && last?.role === role)
      merged.splice(-1, 1, { role, content: [...last.content, ...kept] })
    else if (kept.length > 0) merged.push({ role, content: kept })
  }
  return merged
}

function inOne(texts: readonly Block[]): readonly Block[] {
  return texts.length === 0
    ? []
    : [{ type: 'text', text: texts.map(({ text }) => text).join('\n\n') }]
}

function blocks(content: unknown): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content.trimEnd() }]
  return (content as readonly Block[]).map(
    ({ cache_control: _mark, is_error: isError, ...block }) => ({
      ...block,
      ...(block.type === 'text' ? { text: String(block['text']).trimEnd() } : {}),
      ...(isError === true ? { is_error: true } : {}),
      ...(block.type === 'tool_result' ? { content: blocks(block['content']) } : {}),
    }),
  )
}

/** Except the system text after the last prompt, which cannot be known before. */
function expectSame(stored: readonly SentMessage[], sent: readonly SentMessage[]): void {
  const theirs = plain(sent)
  expect(plain(stored)).toEqual(theirs.at(-1)?.role === 'system' ? theirs.slice(0, -1) : theirs)
}

test('the store yields what Claude Code sends next: parallel tools, thinking, images, compaction, resumes', async () => {
  const world = await ClaudeWorld.create('2.1.325')
  world.stint('init', '--name', 'look-closely', '--goal', 'See what there is')
  const stored = (id: string) =>
    JSON.parse(world.stint('history', id, '--format', 'anthropic')) as readonly SentMessage[]
  /** Continues in its own process, and compares what was stored before with what is sent. */
  const resume = async (id: string, prompt: string) => {
    const before = stored(id)
    world.stub.forget()
    await world.ask(prompt, '--resume', id)
    const sent = world.stub.turns[0]!.body.messages as readonly SentMessage[]
    expectSame([...before, { role: 'user', content: prompt }], sent)
    return sent
  }
  writeFileSync(world.path('p.png'), Buffer.from(PIXEL, 'base64'))
  writeFileSync(world.path('a.txt'), 'first\n  second\n\nlast')
  writeFileSync(world.path('b.txt'), 'one line\n')
  world.stub.script(
    {
      thinking: { text: 'let me see', signature: 'c2lnbmF0dXJl' },
      text: 'I look',
      tools: [
        { name: 'Read', input: { file_path: world.path('p.png') } },
        { name: 'Bash', input: { command: 'sleep 0.3; echo one', description: 'x' } },
        { name: 'Bash', input: { command: 'echo two; exit 1', description: 'x' } },
        // Too long for a line of the store.
        { name: 'Bash', input: { command: 'seq 1 5000', description: 'x' } },
        { name: 'Read', input: { file_path: world.path('a.txt') } },
      ],
    },
    { thinking: { text: 'aha', signature: 'c2lnMg==' }, text: 'I saw it' },
  )
  const { session_id: id } = await world.ask('look at the picture and at @b.txt')
  const sent = await resume(id, 'what was it?')
  expect(JSON.stringify(sent)).toContain(PIXEL)

  const talk = world.talk('--resume', id)
  world.stub.script(
    {
      text: 'I wait',
      tools: [{ name: 'Bash', input: { command: 'sleep 3; echo waited', description: 'x' } }],
    },
    { text: 'I waited' },
  )
  const third = talk.say('third please')
  await talk.until((message) => JSON.stringify(message).includes('sleep 3'))
  // Typed while it works: the model gets it in other words.
  void talk.say('and this').catch(() => undefined)
  await third
  await talk.end()
  const typed = await resume(id, 'fourth please')
  expect(JSON.stringify(typed)).toContain('while you were working')
  const again = world.talk('--resume', id)
  await again.say('/compact keep it')
  world.stub.script({
    text: 'after all',
    tools: [{ name: 'Bash', input: { command: 'echo three', description: 'x' } }],
  })
  await again.say('after the compaction')
  await again.end()
  const compacted = await resume(id, 'and resumed')
  expect(JSON.stringify(compacted)).not.toContain('seq 1 5000')
  expect(world.troubles).toBe('')

  const [row] = JSON.parse(world.stint('history', 'look-closely', '--json')) as readonly Record<
    string,
    unknown
  >[]
  expect(row).toMatchObject({
    id,
    harness: 'claude',
    compactions: 1,
    isStored: true,
    endedBecause: 'other',
    title: 'look at the picture and at @b.txt',
  })
})
