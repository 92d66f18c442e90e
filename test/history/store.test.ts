import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { HistoryItem, MessagePart } from '../../src/history/items.ts'
import { blobsFolder, conversationPath } from '../../src/history/paths.ts'
import { tryWithLock } from '../../src/history/lock.ts'
import { conversationStore } from '../../src/history/store.ts'
import { summarise } from '../../src/history/summary.ts'
import { scratchFolder } from '../support/scratch.ts'
import { PIXEL, item, textMessage } from './items.ts'

const TOKEN = `ghp_${'aB3'.repeat(14)}`
const LONG = 'a long output '.repeat(2000)
const MANY = `[${LONG.length} characters]`

function world() {
  const sessions = join(scratchFolder(), '.sessions')
  const store = conversationStore(sessions, {})
  const read = (conversation = 'c1', from = 0) =>
    [...store.read(conversation, { from })].map(
      ({ offset, ...rest }) => (expect(offset).toBeGreaterThan(0), rest),
    )
  const blobs = () =>
    existsSync(blobsFolder(sessions))
      ? readdirSync(blobsFolder(sessions), { recursive: true, encoding: 'utf8' }).filter(
          (name) => name.length > 60,
        )
      : []
  return { sessions, store, read, blobs, path: conversationPath(sessions, 'c1') }
}

describe('a stored conversation', () => {
  test('is read as it was written for any content', () => {
    fc.assert(
      fc.property(fc.uniqueArray(item, { maxLength: 8, selector: identity }), (items) => {
        const { store, read, sessions } = world()
        store.append('c1', items, { isUnsynced: true })
        expect(read()).toEqual(items)
        rmSync(sessions, { recursive: true, force: true })
      }),
      { numRuns: 100 },
    )
  })

  test('yields each item once, however often and in however many pieces it was added', () => {
    const { store, read } = world()
    const items: HistoryItem[] = [
      textMessage('a'),
      textMessage('b'),
      { type: 'ended', at: '2026-01-01T00:00:00.000Z', reason: 'other' },
    ]
    store.append('c1', items.slice(0, 2))
    store.append('c1', items)
    store.append('c1', [])
    expect(read()).toEqual(items)
  })

  test('can be read on from where an earlier read ended', () => {
    const { store, read } = world()
    store.append('c1', [textMessage('a'), textMessage('ü')])
    const offsets = [...store.read('c1')].map(({ offset }) => offset)
    store.append('c1', [textMessage('c')])
    expect(read('c1', offsets[0])).toEqual([textMessage('ü'), textMessage('c')])
    expect(read('c1', offsets[1])).toEqual([textMessage('c')])
  })

  test('is read past torn and foreign lines', () => {
    const { store, read, path } = world()
    store.append('c1', [textMessage('a'), textMessage('b')])
    truncateSync(path, readFileSync(path).length - 10)
    store.append('c1', [textMessage('b'), textMessage('c')])
    writeFileSync(path, `null\n7\n\0\0\n{"type":"user","uuid":"x"}\n`, { flag: 'a' })
    expect(read()).toEqual([textMessage('a'), textMessage('b'), textMessage('c')])
  })

  test('is listed with its size', () => {
    const { store, path } = world()
    expect(store.list()).toEqual([])
    store.append('c1', [textMessage('a')])
    expect(store.list()).toMatchObject([{ id: 'c1', path, bytes: readFileSync(path).length }])
    expect(store.has('c1')).toBe(true)
    expect(store.has('c2')).toBe(false)
    expect([...store.read('c2')]).toEqual([])
  })
})

describe('while another process holds the lock', () => {
  test('a writer does not wait for the lock of a process that has ended', () => {
    const { store, read, path } = world()
    store.append('c1', [textMessage('a')])
    const { pid } = spawnSync('true')
    writeFileSync(`${path}.lock`, `${pid} ${hostname()}`)
    expect(tryWithLock(path, () => 'done')).toBe('done')
    store.append('c1', [textMessage('b')])
    expect(read()).toEqual([textMessage('a'), textMessage('b')])
    // On another machine it may still run, so only its age counts.
    writeFileSync(`${path}.lock`, `${pid} elsewhere`)
    expect(tryWithLock(path, () => 'done')).toBeUndefined()
    utimesSync(`${path}.lock`, Date.now() / 1000 - 11, Date.now() / 1000 - 11)
    store.append('c1', [textMessage('c')])
    expect(read()).toEqual([textMessage('a'), textMessage('b'), textMessage('c')])
  })
})

describe('a long text', () => {
  test('is stored once for all conversations that hold it', () => {
    const { store, read, blobs, path } = world()
    const result = textMessage('r', {
      parts: [
        { type: 'tool result', use: 't', parts: [{ type: 'text', text: LONG }], isError: false },
      ],
    })
    store.append('c1', [result, textMessage('again', { parts: [{ type: 'text', text: LONG }] })])
    store.append('c2', [result])
    expect(blobs()).toHaveLength(1)
    expect(readFileSync(path).length).toBeLessThan(1000)
    expect(read('c2')).toEqual([result])
  })

  test('is replaced by its length in a brief read', () => {
    const { store } = world()
    store.append('c1', [
      textMessage('x', { role: 'assistant', parts: [{ type: 'text', text: LONG }] }),
    ])
    expect([...store.read('c1', { isBrief: true })]).toMatchObject([{ parts: [{ text: MANY }] }])
  })

  test("still sets the conversation's title when it is the prompt", () => {
    const { store } = world()
    const picture: MessagePart = { type: 'image', mediaType: 'image/png', data: PIXEL }
    const asked = { parts: [{ type: 'text', text: `Fix the sweep\n${LONG}` } as const, picture] }
    const result: MessagePart = {
      type: 'tool result',
      use: 't',
      parts: [{ type: 'text', text: LONG }],
      isError: false,
    }
    store.append('c1', [
      textMessage('meta', { parts: [{ type: 'text', text: LONG }], isMeta: true }),
      textMessage('r', { parts: [result] }),
      textMessage('x', asked),
    ])
    const [meta, answered, first] = [...store.read('c1', { isBrief: true })]
    expect(summarise([meta!, answered!, first!]).title).toMatch(/^Fix the sweep /)
    expect([meta, answered]).toMatchObject([
      { parts: [{ text: MANY }] },
      { parts: [{ parts: [{ text: MANY }] }] },
    ])
    expect(first).toMatchObject({ parts: [{}, { data: '' }] })
  })

  test('is replaced by a note when its blob is missing or damaged, even if it was an image', () => {
    const { store, read, blobs, sessions } = world()
    store.append('c1', [
      textMessage('x', {
        parts: [
          { type: 'text', text: LONG },
          { type: 'image', mediaType: 'image/png', data: PIXEL },
        ],
      }),
    ])
    for (const name of blobs()) writeFileSync(join(blobsFolder(sessions), name), 'other')
    const texts = () =>
      read().flatMap((found) => ('parts' in found ? found.parts : [])) as {
        type: string
        text: string
      }[]
    expect(texts().map(({ type }) => type)).toEqual(['text', 'text'])
    expect(texts()[0]!.text).toMatch(
      /^\[28000 characters cannot be read: blob [0-9a-f]{12} is damaged\]$/,
    )
    rmSync(blobsFolder(sessions), { recursive: true })
    expect(texts()[1]!.text).toMatch(/characters are not here any more/)
    store.append('c2', [textMessage('x', { parts: [{ type: 'text', text: LONG }] })])
    expect(texts()[0]!.text).toBe(LONG)
  })

  test('is written again where a power cut truncated its blob', () => {
    const { store, read, blobs, sessions } = world()
    const long = textMessage('x', { parts: [{ type: 'text', text: LONG }] })
    store.append('c1', [long], { isUnsynced: true })
    truncateSync(join(blobsFolder(sessions), blobs()[0]!), 0)
    store.append('c1', [long])
    expect(read()).toEqual([long])
  })
})

describe('a secret', () => {
  test.each([
    ['in a short text', `x ${TOKEN} y`],
    ['in a long one', `${LONG} ${TOKEN} ${LONG}`],
  ])('%s reaches neither the lines nor the blobs', (_, text) => {
    const { store, blobs, sessions, path } = world()
    store.append('c1', [textMessage('x', { parts: [{ type: 'text', text }] })])
    const all = [path, ...blobs().map((name) => join(blobsFolder(sessions), name))].map((name) =>
      readFileSync(name, 'utf8'),
    )
    expect(all.join('')).not.toContain(TOKEN)
    expect(all.join('')).toContain('[redacted:')
  })

  test('is redacted even if it claims to be an image', () => {
    const { store, read } = world()
    store.append('c1', [
      textMessage('x', {
        parts: [{ type: 'image', mediaType: 'image/png', data: 'AKIAQZ7RTN4XW2MPLK6D' }],
      }),
    ])
    expect(JSON.stringify(read())).not.toContain('AKIAQZ7RTN4XW2MPLK6D')
  })
})

describe('an id from outside', () => {
  test.each([
    '../x',
    'a/b',
    '/etc/passwd',
    '',
    '.',
    '..',
    'a\0b',
    '-x',
    'x'.repeat(200),
    'blobs/../x',
  ])('that could lead out of the folder is refused: %j', (name) => {
    const { store, sessions } = world()
    expect(() => store.append(name, [textMessage('a')])).toThrow(
      expect.objectContaining({ code: 'NOT_A_CONVERSATION' }) as Error,
    )
    expect(() => [...store.read(name)]).toThrow(
      expect.objectContaining({ code: 'NOT_A_CONVERSATION' }) as Error,
    )
    expect(store.has(name)).toBe(false)
    expect(existsSync(sessions)).toBe(false)
  })

  test('of a file that is no conversation is not listed', () => {
    const { store, sessions } = world()
    mkdirSync(join(sessions, 'conversations', 'folder.jsonl'), { recursive: true })
    writeFileSync(join(sessions, 'conversations', 'c1.json'), '')
    expect(store.list()).toEqual([])
  })
})

function identity(found: HistoryItem): string {
  return 'id' in found ? found.id : JSON.stringify(found)
}
