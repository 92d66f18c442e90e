import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { claudeHistory } from '../../src/harness/claude/history.ts'
import { itemFromLine } from '../../src/history/item-lines.ts'
import type { NewItem } from '../../src/history/items.ts'
import { conversationPath } from '../../src/history/paths.ts'
import { conversationStore } from '../../src/history/store.ts'
import { asObject } from '../../src/text/json-fields.ts'
import { scratchFolder } from '../support/scratch.ts'

const TOKEN = `ghp_${'aB3'.repeat(14)}`
const ID = '11111111-2222-4333-8444-555555555555'

/** A line as Claude Code writes it, around the text of a message. */
function line(message: string, tail = ''): string {
  return `{"parentUuid":null,"isSidechain":false,"cwd":"/p","sessionId":"s","type":"user","message":${message},"uuid":"${ID}","timestamp":"2026-01-05T08:00:00.000Z"${tail}}`
}

function translated(text: string): readonly NewItem[] | 'damaged' {
  return claudeHistory
    .createTranslator({ conversation: 'c1' }, { hasBegun: true })
    .translate(Buffer.from(text), 0)
}

function stored(text: string) {
  const sessions = join(scratchFolder(), '.sessions')
  const store = conversationStore(sessions, {})
  const items = translated(text)
  if (items === 'damaged') throw new Error('damaged')
  const writer = store.writer('c1', { isUnsynced: true })
  for (const item of items) writer.add(item)
  writer.flush()
  const file = readFileSync(conversationPath(sessions, 'c1'), 'utf8')
  return {
    file,
    items: [...store.read('c1')].map(
      ({ offset, ...item }) => (expect(offset).toBeGreaterThan(0), item),
    ),
  }
}

const RESULT = `{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"ü \\"quoted\\"\\n"}]}`

describe('an imported transcript line', () => {
  test('is stored as the harness wrote it, and reads like parsed items', () => {
    const text = line(RESULT, ',"toolUseResult":{"stdout":"much more"}')
    const { file, items } = stored(text)
    expect(file).toContain(`"message":${RESULT}}`)
    expect(file).not.toContain('much more')
    expect(items).toEqual([itemFromLine(asObject(JSON.parse(text))!)])
  })

  test.each([
    ['a letter of it is written as a number', TOKEN.replace('g', '\\u0067')],
    ['a slash of it has a backslash', 'https:\\/\\/me:hunter22hunter22@example.org\\/'],
    ['it stands there plainly', TOKEN],
  ])('is stored without the secret when %s', (_, secret) => {
    const { file } = stored(line(`{"role":"user","content":"it is ${secret} as I said"}`))
    expect(file).toContain('as I said')
    expect(file).not.toMatch(/aB3aB3aB3|hunter22/)
  })

  test.each([
    [
      'other messages',
      `{"role":"assistant","id":"m","content":[{"type":"tool_use","id":"t","name":"send","input":{"message":{"to":"you"},"uuid":"x"}}]}`,
    ],
    [
      'a message that says so twice',
      `{"role":"user","content":"a"},"message":{"role":"user","content":"b"}`,
    ],
    ['an id that says so twice', `{"role":"user","content":"a"},"uuid":"9"`],
  ])('is parsed with %s in it', (_, message) => {
    const text = line(message)
    expect(stored(text).items).toEqual([itemFromLine(asObject(JSON.parse(text))!)])
  })

  test('is parsed when another message precedes its own', () => {
    const other = '"extra":{"a":1,"message":{"role":"user","content":"inner"},"uuid":"i"}'
    const text = `{"parentUuid":null,${other},"type":"user","uuid":"${ID}","timestamp":"2026-01-05T08:00:00.000Z","message":{"role":"user","content":"outer"}}`
    expect(stored(text).items).toMatchObject([{ parts: [{ text: 'outer' }] }])
  })

  test('is damaged when its message is, even with a valid start and end', () => {
    const whole = line('{"role":"user","content":"one"}')
    const glued = `${whole.slice(0, whole.indexOf('one') + 1)}${whole}`
    expect(translated(glued)).toBe('damaged')
  })

  test('stores a long text once, as a blob', () => {
    const { file, items } = stored(line(`{"role":"user","content":"${'long '.repeat(4000)}"}`))
    expect(file).toContain('"$blob"')
    expect(items).toMatchObject([{ parts: [{ text: 'long '.repeat(4000) }] }])
  })
})
