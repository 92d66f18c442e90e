import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { harnessesWithoutSystemPrompt } from '../../src/harness/registry.ts'
import { modelMessages } from '../../src/history/model-messages.ts'
import { copyTranscriptChunk } from '../../src/project/conversation/copy-transcript.ts'
import { endConversation } from '../../src/history/lock.ts'
import { readConversationLines } from '../../src/history/blobs.ts'
import {
  answered,
  attached,
  came,
  compacted,
  injected,
  ran,
  recorded,
  said,
  summed,
} from '../capture/transcript.ts'
import { scratchFolder } from '../support/scratch.ts'
import { Copying } from './copy.world.ts'

const line = (text: string) => `${text}\n`
const TOKEN = `ghp_${'aB3'.repeat(14)}`

describe("a copy of a real client's transcript", () => {
  test.each([
    ['claude-2.1.325.jsonl', { user: 14, assistant: 10, attachment: 28, system: 1 }],
    ['claude-2.0.77.jsonl', { user: 13, assistant: 10, system: 1 }],
  ] as const)('%s has the messages and nothing else', (name, expected) => {
    const copying = new Copying().write(recorded(name)).copyAll()
    const kinds: Record<string, number> = {}
    for (const { type } of copying.lines) kinds[String(type)] = (kinds[String(type)] ?? 0) + 1
    expect(kinds).toEqual(expected)
    expect(copying.bytes).not.toContain('prompt_snapshot')
    expect(copying.bytes).not.toContain('api-request')
  })

  test('is smaller, and keeps the links between lines', () => {
    const copying = new Copying().write(recorded('claude-2.1.325.jsonl')).copyAll()
    expect(copying.bytes.length).toBeLessThan(recorded('claude-2.1.325.jsonl').length / 2)
    const answer = copying.lines.findLast(({ type }) => type === 'assistant')!
    expect(Object.keys(answer).sort()).toEqual([
      'cwd',
      'gitBranch',
      'isSidechain',
      'message',
      'parentUuid',
      'timestamp',
      'type',
      'uuid',
      'version',
    ])
    expect(answer['message']).toMatchObject({
      id: 'msg_12',
      model: 'claude-opus-5-5',
      usage: { input_tokens: 100 },
    })
    expect(copying.lines.find(({ type }) => type === 'system')).toMatchObject({
      subtype: 'compact_boundary',
      compactMetadata: { preTokens: 147 },
    })
    expect(copying.lines.filter(({ isCompactSummary }) => isCompactSummary === true)).toHaveLength(
      1,
    )
  })
})

describe('a copy', () => {
  test.each([
    ['": "', (text: string) => text.replaceAll(/"(type|subtype|parentUuid)":"/g, '"$1": "')],
    [
      'a tab',
      (text: string) =>
        text.replaceAll(/"(type|subtype|parentUuid)":"/g, '"$1":\t"').replaceAll(/^\{/gm, '{ '),
    ],
  ])('reads JSON with white space, such as %s', (_what, spaced) => {
    const text = recorded('claude-2.1.325.jsonl').toString('utf8')
    expect(spaced(text)).not.toContain('"type":"user"')
    const copying = new Copying().write(spaced(text)).copyAll()
    expect(copying.all).toEqual(new Copying().write(text).copyAll().all)
  })

  test('starts with its conversation and ends with the reason it ended', () => {
    const copying = new Copying()
    endConversation(join(copying.folder, '.sessions'), 'c0ffee', {
      at: '2026-01-02T00:00:00.000Z',
      reason: 'clear',
    })
    expect(existsSync(copying.target)).toBe(false)
    copying.write(line(attached('environment', {}, { parentUuid: 'x' })), line(said('a'))).copyAll()
    endConversation(join(copying.folder, '.sessions'), 'c0ffee', {
      at: '2026-01-02T00:00:00.000Z',
      reason: 'clear',
    })
    expect(copying.items.map(({ type }) => type)).toEqual(['began', 'message', 'ended'])
    expect(copying.items[0]).toMatchObject({
      conversation: 'c0ffee',
      harness: 'claude',
      cwd: '/home/dev/project',
    })
  })

  test('keeps the branch of a line whose parent is not stored', () => {
    const chain = [
      said('a', { uuid: 'a' }),
      attached('environment', {}, { uuid: 'x', parentUuid: 'a' }),
      attached('date', {}, { uuid: 'y', parentUuid: 'x' }),
      said('left', { uuid: 'b', parentUuid: 'y' }),
      said('right', { uuid: 'c', parentUuid: 'y' }),
    ].map(line)
    for (const maxBytes of [100, 65_536]) {
      const copying = new Copying().write(...chain).copyAll({ maxBytes })
      expect(
        copying.items.flatMap((item) => (item.type === 'message' ? [[item.id, item.parent]] : [])),
      ).toEqual([
        ['a', undefined],
        ['b', 'a'],
        ['c', 'a'],
      ])
    }
  })
})

describe('copying a line', () => {
  const keptOf = (text: string) => new Copying().write(line(text)).copyAll().lines[0]

  test('stores a tool result once', () => {
    expect(
      keptOf(
        came('t1', 'x', false, { toolUseResult: { stdout: 'x', originalFile: 'y'.repeat(9000) } }),
      ),
    ).not.toHaveProperty('toolUseResult')
    expect(keptOf(said('hello', { toolUseResult: { stdout: 'x' } }))).toHaveProperty(
      'toolUseResult',
      { stdout: 'x' },
    )
  })

  test('stores injected context and queued prompts', () => {
    expect(keptOf(injected('[stint:aaaa1111]', { rendered: ['x'] }))).toMatchObject({
      attachment: { content: ['[stint:aaaa1111]'] },
    })
    expect(keptOf(injected('x', { rendered: ['x'] }))).not.toHaveProperty('rendered')
    expect(
      keptOf(attached('queued_command', { prompt: 'also this', commandMode: 'prompt' })),
    ).toMatchObject({
      attachment: { prompt: 'also this' },
    })
  })

  test('stores a file shown to the model once', () => {
    const shown = attached(
      'file',
      { filename: '/b.txt', content: { file: { content: 'one' } } },
      { rendered: [{ content: '1\tone' }] },
    )
    expect(keptOf(shown)).toMatchObject({
      attachment: { type: 'file', filename: '/b.txt' },
      rendered: [{ content: '1\tone' }],
    })
    expect(keptOf(shown)!['attachment']).not.toHaveProperty('content')
    expect(new Copying().write(line(shown)).copyAll().items[1]).toMatchObject({
      role: 'user',
      isMeta: true,
      parts: [{ text: '1\tone' }],
    })
    expect(keptOf(attached('file', { filename: '/b.txt' }))).toBeUndefined()
  })

  test('stores titles, compaction boundaries and summaries in full', () => {
    expect(keptOf('{"type":"summary","summary":"Fix the bug","leafUuid":"u1"}')).toEqual({
      type: 'summary',
      summary: 'Fix the bug',
      leafUuid: 'u1',
    })
    expect(keptOf(compacted())).toMatchObject({
      subtype: 'compact_boundary',
      compactMetadata: { trigger: 'auto' },
    })
    expect(keptOf(summed('in short'))).toMatchObject({ isCompactSummary: true })
  })

  test.each([
    'environment',
    'file_reference',
    'prompt_snapshot',
    'hook_success',
    '__proto__',
    'constructor',
  ])('drops an attachment the model does not see: %s', (type) => {
    const content = {
      type: 'user',
      subtype: 'compact_boundary',
      more: { type: 'hook_additional_context' },
    }
    expect(keptOf(attached(type, { content }))).toBeUndefined()
  })

  test('stores an attachment as the model read it', () => {
    const reminder = (text: string) => ({
      content: `<system-reminder>\n${text}\n</system-reminder>`,
    })
    const lines = [
      attached(
        'date',
        { date: '2026-11-15' },
        { rendered: [reminder('It is late.')], renderedRole: 'system' },
      ),
      attached(
        'edited_text_file',
        { snippet: 'x' },
        { rendered: [reminder('It changed.'), { content: 'here' }], renderedRole: 'user' },
      ),
      attached('model', { text: 'x' }, { rendered: [], renderedRole: 'system' }),
      attached(
        'queued_command',
        { prompt: 'and this' },
        { rendered: [reminder('The user sent: and this')], renderedRole: 'system' },
      ),
    ]
    const copying = new Copying().write(...lines.map(line)).copyAll()
    expect(copying.lines.map(({ attachment }) => (attachment as { type: string }).type)).toEqual([
      'date',
      'edited_text_file',
      'queued_command',
    ])
    expect(copying.lines[0]!['attachment']).not.toHaveProperty('date')
    expect(copying.items.slice(1)).toMatchObject([
      { role: 'system', isMeta: true, parts: [{ type: 'text', text: 'It is late.' }] },
      {
        role: 'user',
        isMeta: true,
        parts: [{ text: '<system-reminder>\nIt changed.\n</system-reminder>' }, { text: 'here' }],
      },
      // As the user typed it, and as the model read it.
      {
        role: 'user',
        parts: [{ text: 'and this' }],
        asTold: { role: 'system', parts: [{ text: 'The user sent: and this' }] },
      },
    ])
    expect(modelMessages(copying.items, harnessesWithoutSystemPrompt()).at(-1)).toEqual({
      role: 'system',
      parts: [
        { type: 'text', text: 'It is late.\n' },
        { type: 'text', text: 'The user sent: and this' },
      ],
    })
  })

  test("drops the harness's internal lines", () => {
    const nested = {
      type: 'system',
      subtype: 'stop_hook_summary',
      hookInfos: [{ type: 'user', message: { content: 'x' } }],
    }
    expect(keptOf(JSON.stringify(nested))).toBeUndefined()
    expect(
      keptOf(
        JSON.stringify({
          type: 'progress',
          data: { type: 'assistant', message: { content: 'x' } },
        }),
      ),
    ).toBeUndefined()
  })

  test('stores pictures and long texts in full, once, as blobs', () => {
    const picture = {
      type: 'image',
      source: {
        type: 'base64',
        media_type: 'image/png',
        data: `iVBORw0KGgo${'A'.repeat(100_000)}`,
      },
    }
    const long = `begin ${'word '.repeat(100_000)}end`
    const copying = new Copying()
      .write(
        line(said([picture, { type: 'text', text: long }])),
        line(came('t1', long)),
        line(said([picture])),
      )
      .copyAll({ maxBytes: 2_000_000 })
    expect(copying.bytes.length).toBeLessThan(5000)
    expect(copying.blobs).toHaveLength(2)
    const [, first, second, third] = copying.items as readonly { parts: readonly object[] }[]
    expect(first!.parts).toEqual([
      { type: 'image', mediaType: 'image/png', data: picture.source.data },
      { type: 'text', text: long },
    ])
    expect(second!.parts).toMatchObject([{ parts: [{ text: long }] }])
    expect(third!.parts).toEqual([first!.parts[0]])
  })

  test('stores a placeholder for a line that is too long', () => {
    const copying = new Copying()
      .write(line(said('before')), line(said('x'.repeat(9_000_000))), line(said('after')))
      .copyAll()
    expect(
      copying.lines.map(
        (kept) => kept['leftOut'] ?? (kept['message'] as { content: unknown }).content,
      ),
    ).toEqual(['before', 'a line of more than 8388608 bytes', 'after'])
  })
})

describe('a secret', () => {
  const written = (copying: Copying) => [copying.bytes, ...copying.blobs].join('\n')
  const holds = (copying: Copying) => written(copying).includes(TOKEN.slice(0, 20))

  test.each<[string, string]>([
    ['in a prompt', said(`use ${TOKEN} please`)],
    ['in an answer', answered(`I use ${TOKEN}`)],
    ['in what a tool was given', ran('t1', `curl -H "Authorization: Bearer ${TOKEN}"`)],
    ['in what a tool printed', came('t1', `x\nTOKEN=${TOKEN}\ny`)],
    [
      'in what a tool printed, as a file with numbered lines',
      came('t1', `1\t{\n2\t  "api_key": "${TOKEN}"\n3\t}`),
    ],
    ['in what a hook gave', injected(TOKEN)],
    ['in a summary', summed(`the token is ${TOKEN}`)],
    ['in what only the harness was told', said('x', { toolUseResult: { stdout: TOKEN } })],
    [
      'in a field that nobody knows',
      answered([{ type: 'tool_use', id: 't1', name: 'X', input: { deep: [{ er: TOKEN }] } }]),
    ],
  ])('%s never reaches the disk', (_, text) => {
    const copying = new Copying().write(line(text)).copyAll()
    expect(copying.lines).toHaveLength(1)
    expect(holds(copying)).toBe(false)
    expect(copying.bytes).toContain('[redacted:')
  })

  test('written in two halves never reaches the disk', () => {
    const text = line(came('t1', `TOKEN=${TOKEN} end`))
    for (let at = text.indexOf('ghp_') - 5; at < text.indexOf(' end') + 5; at += 3) {
      const copying = new Copying().write(line(said('before')), text.slice(0, at))
      copying.copy()
      copying.write(text.slice(at), line(said('after'))).copyAll()
      expect(copying.lines).toHaveLength(3)
      expect(holds(copying)).toBe(false)
    }
  })

  test('in a blob never reaches the disk', () => {
    const filler = 'word '.repeat(40_000)
    const copying = new Copying().write(line(came('t1', `${filler} ${TOKEN} ${filler}`))).copyAll()
    expect(copying.blobs).toHaveLength(1)
    expect(holds(copying)).toBe(false)
    expect(written(copying)).toContain('[redacted:')
  })

  test("matching a project's pattern never reaches the disk", () => {
    const redaction = { extra: [/INTERNAL-\d+/] }
    const copying = new Copying().write(line(said('see INTERNAL-12345'))).copyAll({ redaction })
    expect(copying.bytes).not.toContain('INTERNAL-12345')
  })

  test('like a long private key never reaches the disk', () => {
    const body = Array.from(
      { length: 40 },
      (_, index) =>
        `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKc'.slice(0, 30)}${index}AbCdEfGhIjKlMnOpQrSt`,
    )
    const key = `-----BEGIN PRIVATE KEY-----\n${body.join('\n')}\n-----END PRIVATE KEY-----`
    const copying = new Copying()
      .write(line(came('t1', `${'x '.repeat(32_768 / 2 - 300)}${key}${' y'.repeat(60_000)}`)))
      .copyAll()
    expect(written(copying)).not.toContain(body[0])
    expect(written(copying)).not.toContain(body[39])
  })
})

describe('a growing transcript', () => {
  test('is copied alike in many calls and in one', () => {
    const lines = [
      said('a'),
      answered('b'),
      attached('environment', { big: 'x'.repeat(3000) }),
      ran('t1', 'ls'),
      came('t1', 'ü\u{1F680}'),
      compacted(),
      summed('c'),
      'garbage',
      '',
      answered('d'),
    ].map(line)
    const whole = Buffer.from(lines.join(''))
    const once = new Copying().write(whole).copyAll().bytes
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: whole.length }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 5000 }),
        (cuts, maxBytes) => {
          const copying = new Copying()
          const ends = [...cuts, whole.length].sort((a, b) => a - b)
          let from = 0
          for (const end of ends) {
            copying.write(whole.subarray(from, end))
            copying.copy({ maxBytes })
            from = end
          }
          copying.copyAll({ maxBytes })
          expect(copying.bytes).toBe(once)
          rmSync(copying.folder, { recursive: true })
        },
      ),
      { numRuns: 60 },
    )
  })

  test('is copied up to the line that is still being written', () => {
    const torn = said('second')
    const copying = new Copying().write(line(said('first')), torn)
    expect(copying.copy()).toMatchObject({ copied: 1, isCaughtUp: true })
    expect(copying.texts).toEqual(['first'])
    expect(copying.copy()).toMatchObject({ copied: 0, isCaughtUp: true })
    copying.write('\n').copyAll()
    expect(copying.texts).toEqual(['first', 'second'])
  })

  test('is caught up while empty, and no copy is created', () => {
    const copying = new Copying().write('')
    expect(copying.copy()).toMatchObject({ copied: 0, isCaughtUp: true })
    copying.write(line(attached('environment')))
    expect(copying.copy()).toMatchObject({ copied: 0, isCaughtUp: true })
    expect(existsSync(dirname(copying.target))).toBe(false)
  })

  test('is copied line by line when time is short', () => {
    const copying = new Copying().write(
      ...Array.from({ length: 5 }, (_, index) => line(said(`${index}`))),
    )
    for (let index = 1; index <= 4; index += 1)
      expect(copying.copy({ untilMs: 0 })).toMatchObject({ copied: 1, isCaughtUp: false })
    expect(copying.copy({ untilMs: 0 })).toMatchObject({ copied: 1, isCaughtUp: true })
    expect(copying.texts).toEqual(['0', '1', '2', '3', '4'])
  })

  test('is copied past a line longer than a chunk', () => {
    const copying = new Copying().write(
      line(said('a')),
      line(attached('file', { content: 'x'.repeat(200_000) })),
      line(said('y'.repeat(30_000))),
      line(said('b')),
    )
    copying.copyAll({ maxBytes: 1000 })
    expect(copying.lines).toHaveLength(3)
  })
})

describe('a replaced transcript', () => {
  const first = [said('a'), said('b'), said('c')].map(line)

  test('is copied from its start', () => {
    const copying = new Copying().write(...first).copyAll()
    renameSync(copying.transcript, `${copying.transcript}.old`)
    copying.write(...first, line(said('d'))).copyAll()
    expect(copying.texts).toEqual(['a', 'b', 'c', 'd'])
  })

  test('is copied from its start after it shrank', () => {
    const copying = new Copying().write(...first).copyAll()
    copying.replace(line(said('new'))).copyAll()
    expect(copying.texts).toEqual(['a', 'b', 'c', 'new'])
  })

  test('is copied again when the cursor is lost', () => {
    const copying = new Copying().write(...first).copyAll()
    copying.cursor = undefined
    copying.write(line(said('d'))).copyAll()
    expect(copying.texts).toEqual(['a', 'b', 'c', 'd'])
  })

  test('is copied from its start when the cursor is invalid', () => {
    const copying = new Copying().write(...first)
    const { ino: inode } = statSync(copying.transcript)
    for (const offset of [-1, 1.5, 'x', null, Number.MAX_SAFE_INTEGER]) {
      expect(copying.copy({ cursor: { offset, inode } as never })).toMatchObject({ copied: 3 })
    }
  })
})

describe('an unusual transcript', () => {
  const copy = (transcript: string) => {
    const target = join(scratchFolder(), 'copies', 'c.jsonl')
    const conversation = { id: 'c0ffee', harness: 'claude' }
    const copied = copyTranscriptChunk({
      transcript,
      target,
      conversation,
      maxBytes: 65_536,
      redaction: {},
    })
    expect(existsSync(target)).toBe(false)
    return copied
  }

  test('is ignored when missing, a folder, a pipe or a device', () => {
    const pipe = join(scratchFolder(), 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of [
      join(scratchFolder(), 'none'),
      scratchFolder(),
      pipe,
      '/dev/zero',
      '',
      'a\0b',
    ])
      expect(copy(path)).toBeUndefined()
  })

  test('is ignored when it is not JSON lines', () => {
    const path = join(scratchFolder(), 'picture.png')
    const noise = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 256))
    for (const bytes of [noise, Buffer.from('just\nsome\ntext\n')]) {
      writeFileSync(path, bytes)
      expect(copy(path)).toBeUndefined()
    }
    writeFileSync(path, Buffer.alloc(100_000))
    expect(copy(path)).toMatchObject({ copied: 0 })
  })

  test('is copied except for damaged lines', () => {
    const noise = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 256))
    const copying = new Copying().write(
      line(said('a')),
      noise,
      '\n',
      Buffer.alloc(100_000),
      '\n',
      line(said('b').slice(0, 80)),
      line(said('c')),
    )
    copying.copyAll({ maxBytes: 2000 })
    expect(copying.texts).toEqual(['a', 'c'])
  })

  test('is copied with any nesting depth', () => {
    const deep = `{"type":"user","uuid":"deep","message":${'['.repeat(3000)}${']'.repeat(3000)}}\n`
    const copying = new Copying().write(deep, line(said('a'))).copyAll()
    expect(copying.lines).toHaveLength(2)
  })
})

describe('a target that cannot be written', () => {
  test('is reported with the cause, and retried from the same line', () => {
    const copying = new Copying().write(line(said('a')))
    mkdirSync(copying.target, { recursive: true })
    const failed = copying.copy()
    expect(failed).toMatchObject({ copied: 0, isCaughtUp: false, cause: { code: 'EISDIR' } })
    expect(existsSync(`${copying.target}.lock`)).toBe(false)
    rmSync(copying.target, { recursive: true })
    copying.copyAll()
    expect(copying.texts).toEqual(['a'])
  })

  test('is reported when it is not a folder', () => {
    const copying = new Copying().write(line(said('a')))
    writeFileSync(join(copying.folder, '.sessions'), '')
    expect(copying.copy()?.cause).toMatchObject({
      code: expect.stringMatching(/^(?:ENOTDIR|EEXIST)$/) as string,
    })
  })

  test('loses no other line after a torn write', () => {
    const copying = new Copying().write(line(said('a')), line(said('b')))
    copying.copy()
    // As a full disk leaves it: the chunk is partly written and does not count as copied.
    for (const left of [copying.bytes.length - 1, copying.bytes.length - 100, 10]) {
      truncateSync(copying.target, left)
      copying.cursor = undefined
      copying.copyAll()
      expect(copying.texts).toEqual(['a', 'b'])
    }
  })
})

describe('while another process copies', () => {
  test('does nothing and does not wait', () => {
    const copying = new Copying().write(line(said('a')))
    mkdirSync(dirname(copying.target), { recursive: true })
    writeFileSync(`${copying.target}.lock`, '')
    expect(copying.copy()).toBeUndefined()
    expect(existsSync(copying.target)).toBe(false)
  })

  test('ignores the lock of a process killed ten seconds ago', () => {
    const copying = new Copying().write(line(said('a')))
    mkdirSync(dirname(copying.target), { recursive: true })
    writeFileSync(`${copying.target}.lock`, '')
    const then = Date.now() / 1000 - 11
    utimesSync(`${copying.target}.lock`, then, then)
    expect(copying.copy()).toMatchObject({ copied: 1 })
    expect(existsSync(`${copying.target}.lock`)).toBe(false)
  })
})

describe('reading a copy', () => {
  test('yields no lines when there is no copy', () => {
    expect([...readConversationLines(join(scratchFolder(), 'none'))]).toEqual([])
    expect([...readConversationLines(scratchFolder())]).toEqual([])
  })

  test('yields each line once, without damaged ones', () => {
    const path = join(scratchFolder(), 'copy.jsonl')
    const [one, two] = [said('one'), said('two')]
    const summary = '{"type":"summary","summary":"x","leafUuid":"u"}'
    writeFileSync(
      path,
      [
        one,
        one.slice(0, 50),
        two,
        summary,
        '',
        'null',
        '7',
        one,
        two,
        summary,
        '\0\0\0',
        said('three'),
      ].join('\n'),
    )
    expect(
      [...readConversationLines(path)].map(
        ({ line: { message, summary: title } }) =>
          (message as { content?: string } | undefined)?.content ?? title,
      ),
    ).toEqual(['one', 'two', 'x', 'three'])
  })

  test('reads lines that span several chunks', () => {
    const path = join(scratchFolder(), 'copy.jsonl')
    const texts = Array.from({ length: 40 }, (_, index) => `${index}${'ü'.repeat(60_000)}`)
    writeFileSync(path, texts.map((text) => line(said(text))).join(''))
    expect(
      [...readConversationLines(path)].map(
        ({ line: { message } }) => (message as { content: string }).content,
      ),
    ).toEqual(texts)
  })
})
