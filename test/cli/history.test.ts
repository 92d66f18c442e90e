import { appendFileSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type HistoryItem, type Message } from '../../src/library.ts'
import { openProject } from '../../src/core.ts'
import { blobsFolder, conversationPath } from '../../src/history/paths.ts'
import { conversationStore } from '../../src/history/store.ts'
import { addToOutbox } from '../../src/project/store/outbox.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import { draftEntry } from '../../src/session/entries.ts'
import { PIXEL, textMessage } from '../history/items.ts'
import { terminal } from '../support/cli.ts'

const ID = '669eb474-9f6f-4932-b41b-3cc44fe2de5b'
const OTHER = '11112222-9f6f-4932-b41b-3cc44fe2de5b'
const SHARED = 'shared output '.repeat(3000)
const LONG = 'only here '.repeat(5000)
const DAYS = 24 * 3600 * 1000

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 10, minutes)).toISOString()

const CONVERSATION: readonly HistoryItem[] = [
  { type: 'began', conversation: ID, harness: 'claude', at: at(0) },
  textMessage('fix \u001B[31mthe login loop', { at: at(1) }),
  textMessage('thinking', {
    role: 'assistant',
    model: 'opus',
    at: at(2),
    request: 'r1',
    parts: [
      { type: 'thinking', text: 'hm', signature: 's' },
      { type: 'text', text: 'I look' },
      { type: 'tool use', id: 't1', name: 'Bash', input: { command: 'npm test' } },
    ],
  }),
  textMessage('result', {
    at: at(3),
    parts: [
      {
        type: 'tool result',
        use: 't1',
        isError: true,
        parts: [{ type: 'text', text: `${SHARED}\nsecond line\n${LONG}` }],
      },
      { type: 'image', mediaType: 'image/png', data: PIXEL },
    ],
  }),
  textMessage('elsewhere', { agent: 'helper', role: 'assistant', at: at(3) }),
  { type: 'compaction', id: 'c1', at: at(4), trigger: 'auto', tokensBefore: 167_000 },
  textMessage('in short', { isSummary: true, at: at(4) }),
  textMessage('go on', { at: at(60) }),
  { type: 'ended', at: at(61), reason: 'logout' },
]

async function world() {
  const { stint, cwd, env } = terminal()
  const { id: session } = (
    await stint('init', '--name', 'fix-auth', '--goal', 'No loop', '--json')
  ).json<{ id: string }>()
  const sessions = join(cwd, '.sessions')
  const store = conversationStore(sessions, {})
  store.append(ID, CONVERSATION)
  store.append(OTHER, [textMessage('another', { parts: [{ type: 'text', text: SHARED }] })])
  for (const conversation of [ID, 'aaaabbbb-lost'])
    addToOutbox(
      findProjectPaths(cwd),
      session,
      draftEntry('conversation.joined', { conversation, harness: 'claude', source: 'startup' }),
    )
  const blobs = () =>
    readdirSync(blobsFolder(sessions), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.length > 60,
    )
  /** Backdates everything stored. */
  const age = (days: number, ...conversations: readonly string[]) => {
    const then = (Date.now() - days * DAYS) / 1000
    for (const path of [
      ...conversations.map((id) => conversationPath(sessions, id)),
      ...blobs().map((name) => join(blobsFolder(sessions), name)),
    ])
      utimesSync(path, then, then)
  }
  return { stint, cwd, env, sessions, store, blobs, age }
}

describe('history', () => {
  test('lists the conversations of a session, stored or not', async () => {
    const { stint } = await world()
    const { stdout } = await stint('history')
    expect(stdout).toMatch(
      /669eb474-9f6f {2}2026-01-01T10:00 {2}claude +opus +3 +1 +94 KB {2}logout {2}fix the login loop/,
    )
    expect(stdout).toMatch(/aaaabbbb-lost.*not stored/)
    expect(stdout).not.toContain('11112222')
    expect((await stint('history', 'fix-auth')).stdout).toBe(stdout)
    const rows = (await stint('history', 'fix-auth', '--json')).json<readonly object[]>()
    expect(rows).toMatchObject([
      { id: ID, isStored: true, messages: 3, compactions: 1 },
      { isStored: false },
    ])
    expect((await stint('history', '--all')).stdout).toMatch(/11112222[\s\S]*2 conversations, /)
  })

  test('marks undone messages and does not send them unless they were restored', async () => {
    const { stint, store } = await world()
    const id = '33334444-9f6f-4932-b41b-3cc44fe2de5b'
    store.append(id, [
      textMessage('one', { at: at(1) }),
      textMessage('two', { role: 'assistant', at: at(2) }),
      textMessage('three', { at: at(3) }),
    ])
    store.append(id, [{ type: 'taken back', id: 'b1', at: at(4), from: 'two' }])
    const messages = async () =>
      (await stint('history', id, '--format', 'openai')).json<readonly { content: string }[]>()
    expect((await stint('history', id)).stdout).toMatch(
      /three[\s\S]*──── taken back: what was said above, from 2026-01-01T10:02 on ────/,
    )
    expect((await messages()).map(({ content }) => content)).toEqual(['one'])
    store.append(id, [{ type: 'taken back', id: 'b2', at: at(5) }])
    expect((await stint('history', id)).stdout).toContain(
      '──── what was taken back is there again ────',
    )
    expect((await messages()).map(({ content }) => content)).toEqual(['one', 'two', 'three'])
    store.append(id, [
      { type: 'taken back', id: 'b3', at: at(6), from: 'three' },
      textMessage('four', { at: at(7) }),
    ])
    store.append(id, [{ type: 'taken back', id: 'b4', at: at(8) }])
    expect((await messages()).map(({ content }) => content)).toEqual(['one', 'two', 'four'])
  })

  test('sums up text added by the harness in one line, and prints it with --full', async () => {
    const { stint, store } = await world()
    const id = '55556666-9f6f-4932-b41b-3cc44fe2de5b'
    const added = ['the machine', 'the day', 'the tools'].map((text) =>
      textMessage(text, { role: 'system', isMeta: true }),
    )
    store.append(id, [
      textMessage('go'),
      ...added,
      textMessage('done', { role: 'assistant' }),
      textMessage('again'),
      textMessage('a file', { isMeta: true }),
    ])
    const { stdout } = await stint('history', id)
    expect(stdout).toContain('   (added) the machine\n   (added) … and 2 more\n\nAgent\n   done')
    expect(stdout).toContain('again\n   (added) a file\n')
    const full = (await stint('history', id, '--full')).stdout
    for (const text of ['the machine', 'the day', 'the tools', 'a file'])
      expect(full).toContain(`(added) ${text}`)
  })

  test('prints the transcript with one line for each tool, and everything with --full', async () => {
    const { stint } = await world()
    const { stdout } = await stint('history', '669eb474')
    expect(stdout).toContain('   fix the login loop')
    expect(stdout).not.toContain('\u001B')
    expect(stdout).toContain('   ▸ Bash: npm test')
    expect(stdout).toMatch(/ {3}✗ shared output .*… 3 lines\n {3}\[picture, image\/png, 0 KB\]/)
    expect(stdout).toContain('… 1 message of agent helper')
    expect(stdout).toContain('──── compacted (auto), 167k tokens ────')
    expect(stdout).toMatch(/ended 2026-01-01T11:01: logout/)
    expect(stdout.length).toBeLessThan(1500)
    expect((await stint('history', '669eb474', '--full')).stdout).toContain(LONG.trim())
    const late = (await stint('history', ID, '--from', '2026-01-01T10:30Z')).stdout
    expect(late).toContain('go on')
    expect(late).not.toContain('I look')
  })

  test('exports the messages to send next, for a session those of its latest conversation', async () => {
    const { stint } = await world()
    const expected = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'in short\n' },
          { type: 'text', text: 'go on' },
        ],
      },
    ]
    expect((await stint('history', '--format', 'anthropic')).json()).toEqual(expected)
    expect((await stint('history', 'fix-auth', '--format', 'anthropic')).json()).toEqual(expected)
    expect((await stint('history', ID, '--format', 'openai')).json()).toEqual([
      { role: 'user', content: 'in short\n\ngo on' },
    ])
    const before = (await stint('history', ID, '--format', 'openai', '--to', at(3))).json<
      readonly { role: string }[]
    >()
    expect(before.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
    const { items } = (await stint('history', ID, '--json')).json<{ items: readonly Message[] }>()
    expect(items).toHaveLength(CONVERSATION.length)
  })

  test('prints the problem and the next command', async () => {
    const { stint } = await world()
    expect(await stint('history', 'nothing')).toMatchObject({ exitCode: 1, stdout: '' })
    expect((await stint('history', 'nothing')).stderr).toContain('stint history --all')
    expect(await stint('history', '../../etc/passwd', '--format', 'text')).toMatchObject({
      exitCode: 1,
      stdout: '',
    })
    expect(await stint('history', 'fix-auth', '--full')).toMatchObject({ exitCode: 2 })
    expect(await stint('history', '--all', 'fix-auth')).toMatchObject({ exitCode: 2 })
    expect(
      await stint('history', '669e', '--from', '2026-01-02', '--to', '2026-01-01'),
    ).toMatchObject({ exitCode: 2 })
    expect((await stint('history', '669e', '--from', 'soon')).stderr).toContain('is not a date')
    expect(await stint('history', 'prune', '--older-than', 'soon')).toMatchObject({ exitCode: 2 })
  })
})

test('shows typed text without the injected context around it', async () => {
  const { stint, store } = await world()
  store.append('typed', [
    textMessage('<stint-session name="fix-auth">\nthe record\n</stint-session>\n\nfix the login'),
    textMessage('<div> is not centred'),
    textMessage('<system-reminder>\nit is late\n</system-reminder>'),
  ])
  const { stdout } = await stint('history', 'typed')
  const lines = stdout.split('\n')
  expect(lines[0]).toBe('typed  fix the login')
  expect(lines.slice(3).map((line) => line.trim())).toEqual([
    'You',
    '(added) <stint-session name="fix-auth"> the record </stint-session>',
    'fix the login',
    '<div> is not centred',
    '(added) <system-reminder> it is late </system-reminder>',
    '',
  ])
})

describe('history prune', () => {
  test('removes only named conversations, however old others are', async () => {
    const { stint, blobs, age } = await world()
    age(1000, ID, OTHER)
    expect((await stint('history', 'prune')).stdout).toContain('Nothing to remove.')
    expect(blobs()).toHaveLength(3)
  })

  test('frees exactly what the dry run reports, and keeps blobs that others refer to', async () => {
    const { stint, blobs, age, store } = await world()
    age(100, ID)
    const asked = ['history', 'prune', '--older-than', '90d']
    const would = (await stint(...asked, '--dry-run', '--json')).json()
    expect(would).toMatchObject({
      conversations: [{ id: ID }],
      blobs: { count: 2 },
      left: { conversations: 1, blobs: 1 },
    })
    expect(blobs()).toHaveLength(3)
    expect((await stint(...asked, '--json')).json()).toEqual({ ...would, isDryRun: false })
    expect(store.has(ID)).toBe(false)
    expect([...store.read(OTHER)]).toMatchObject([{ parts: [{ text: SHARED }] }])
    expect((await stint('history')).stdout).toContain('not stored')
  })

  test('removes only the large outputs of one conversation when asked', async () => {
    const { stint, age, store } = await world()
    age(1)
    await stint('history', 'prune', '--conversation', '669e', '--outputs')
    expect(JSON.stringify([...store.read(ID)])).toMatch(/I look.*characters are not here any more/)
    expect([...store.read(OTHER)]).toMatchObject([{ parts: [{ text: SHARED }] }])
    expect((await stint('doctor')).stdout).toContain('2 large outputs of it not here any more')
  })

  test('keeps every message when only outputs are removed, however long', async () => {
    const { stint, age, store } = await world()
    const long = (what: string) => `${what} `.repeat(5000)
    const result = { type: 'tool_result', tool_use_id: 'x', content: long('given') }
    const items = [
      textMessage('asked', { parts: [{ type: 'text', text: long('asked') }] }),
      textMessage('answered', {
        role: 'assistant',
        parts: [
          { type: 'thinking', text: long('thought'), signature: 's' },
          { type: 'text', text: long('answered') },
          {
            type: 'tool use',
            id: 't2',
            name: 'Write',
            input: { content: long('written'), nested: result },
          },
        ],
      }),
      textMessage('short', { isSummary: true, parts: [{ type: 'text', text: long('summary') }] }),
      textMessage('both', {
        parts: [
          {
            type: 'tool result',
            use: 't2',
            isError: false,
            parts: [{ type: 'text', text: long('asked') }],
          },
        ],
      }),
    ]
    store.append('talk', items)
    const before = [...store.read('talk')]
    age(1)
    expect((await stint('history', 'prune', '--outputs', '--json')).json()).toMatchObject({
      blobs: { count: 2 },
    })
    expect([...store.read('talk')]).toEqual(before)
  })

  test('keeps a blob that was just written and has no reference yet', async () => {
    const { stint, blobs, sessions } = await world()
    writeFileSync(conversationPath(sessions, ID), '')
    const { stdout } = await stint('history', 'prune')
    expect(stdout).toContain(
      '2 of the large outputs and pictures kept, written within the last 10 minutes',
    )
    expect(blobs()).toHaveLength(3)
  })
})

describe('purge', () => {
  test('removes a text from large outputs, which stay readable', async () => {
    const { stint, store, blobs, cwd, sessions, env } = await world()
    const { files } = (await stint('purge', 'shared output', '--dry-run', '--json')).json<{
      files: readonly object[]
    }>()
    expect(files).toHaveLength(2)
    const purged = (await stint('purge', 'shared output', '--json')).json()
    expect(purged).toMatchObject({ isComplete: true, remaining: [], files })
    const [message] = [...store.read(OTHER)] as readonly Message[]
    expect(message!.parts).toMatchObject([
      { text: expect.stringMatching(/^\[purged\]/i) as string },
    ])
    expect(JSON.stringify([...store.read(ID)])).toContain('second line')
    for (const name of blobs())
      expect(readFileSync(join(blobsFolder(sessions), name), 'utf8')).not.toContain('shared output')
    const project = openProject(cwd, { env })
    const { checks } = await project.doctor()
    project.dispose()
    expect(checks.find(({ check }) => check === 'conversations')).toMatchObject({ status: 'ok' })
  })
})

describe('doctor', () => {
  test('reports a conversation with unreadable lines and their number', async () => {
    const { stint, sessions } = await world()
    appendFileSync(conversationPath(sessions, ID), '\n{"type":"user","mess\n\n[1]\n')
    const { stdout, exitCode } = await stint('doctor')
    expect(stdout).toMatch(new RegExp(`conversations.${ID}\\.jsonl: 2 lines of it cannot be read`))
    expect([stdout.includes('all whole'), exitCode]).toEqual([false, 0])
  })

  test('reports a damaged large output and one without a reference', async () => {
    const { stint, blobs, sessions } = await world()
    expect((await stint('doctor')).stdout).toMatch(/2 conversations, \d+ KB, all whole/)
    writeFileSync(join(blobsFolder(sessions), blobs()[0]!), 'other')
    const { stdout, exitCode } = await stint('doctor')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('is damaged')
    writeFileSync(conversationPath(sessions, ID), '')
    expect((await stint('doctor')).stdout).toContain('stint history prune frees them')
  })
})
