import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { MessagePart } from '../../src/history/items.ts'
import { modelMessages } from '../../src/history/model-messages.ts'
import { conversationStore } from '../../src/history/store.ts'
import { knownProjects } from '../../src/index/projects.ts'
import type { ImportProgress } from '../../src/project/import/import-histories.ts'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import { conversationStateFolder } from '../../src/project/store/conversation-binding.ts'
import { git } from '../support/scratch.ts'
import {
  CLAUDE,
  CODEX,
  FORK,
  GEMINI,
  ImportWorld,
  OPENCODE,
  type Tables,
  textsOf,
  write,
} from './world.ts'

const partsOf = (world: ImportWorld, conversation: string) =>
  world.messages(conversation).flatMap(({ parts }) => parts)
const ofType = <T extends MessagePart['type']>(parts: readonly MessagePart[], type: T) =>
  parts.filter((part): part is Extract<MessagePart, { type: T }> => part.type === type)

describe('an import stores', () => {
  test('Claude Code transcripts, with the messages of subagents', async () => {
    const world = new ImportWorld().plantAll()
    const report = await world.import({ harnesses: ['claude'] })
    expect(report).toMatchObject({
      damaged: 0,
      unread: [],
      elsewhere: 0,
      conversations: [{ conversation: CLAUDE, isNew: true }],
    })
    const items = world.items(CLAUDE)
    expect(items[0]).toMatchObject({
      type: 'began',
      harness: 'claude',
      conversation: CLAUDE,
      cwd: world.project,
    })
    const parts = partsOf(world, CLAUDE)
    expect(ofType(parts, 'tool use').map(({ name }) => name)).toEqual(['Bash', 'Bash', 'Agent'])
    expect(ofType(parts, 'tool result').map(({ isError }) => isError)).toEqual([false, true, false])
    expect(items.filter(({ type }) => type === 'compaction')).toHaveLength(1)
    const messages = world.messages(CLAUDE)
    expect(messages.filter(({ isSummary }) => isSummary)).toHaveLength(1)
    expect(
      textsOf(messages.filter(({ agent }) => agent !== undefined).flatMap((each) => each.parts)),
    ).toContain('said by the agent')
    // The client also injected tools, the machine and the date.
    expect(
      messages.filter(({ role, isMeta }) => role === 'system' && isMeta === true).length,
    ).toBeGreaterThan(10)
    const ids = new Set(items.flatMap((item) => ('id' in item ? [item.id] : [])))
    expect(
      messages.filter(
        ({ parent, agent }) => agent === undefined && parent !== undefined && !ids.has(parent),
      ),
    ).toEqual([])
  })

  test('Claude Code transcripts with white space in their JSON', async () => {
    const [compact, spaced] = [new ImportWorld().plantAll(), new ImportWorld()]
    const loose = spaced
      .recorded('claude.jsonl')
      .replaceAll(/"(type|subtype|parentUuid)":"/g, '"$1": "')
    expect(loose).not.toContain('"type":"user"')
    write(spaced.claude, loose)
    spaced.plant(spaced.agent, 'claude-agent.jsonl')
    for (const world of [compact, spaced]) await world.import({ harnesses: ['claude'] })
    const importedItems = (world: ImportWorld) =>
      JSON.parse(JSON.stringify(world.items(CLAUDE)).replaceAll(world.root, '')) as unknown
    expect(importedItems(spaced)).toEqual(importedItems(compact))
  })

  test('Codex transcripts: parallel tools, thinking, a picture, usage, compactions, a failure, a fork', async () => {
    const world = new ImportWorld().plantAll()
    await world.import({ harnesses: ['codex'] })
    const messages = world.messages(CODEX)
    const parts = partsOf(world, CODEX)
    expect(ofType(parts, 'image')).toMatchObject([{ mediaType: 'image/png' }])
    expect(ofType(parts, 'thinking')).toEqual([
      { type: 'thinking', text: 'thinking about running' },
      { type: 'thinking', text: '', data: 'ENC' },
    ])
    expect(ofType(parts, 'tool use')).toMatchObject([
      { id: 'call_a1', name: 'exec_command', input: { cmd: 'echo hi' } },
      { id: 'call_b1', input: { cmd: 'cat nosuch' } },
    ])
    expect(ofType(parts, 'tool result')).toMatchObject([
      { use: 'call_a1', isError: false },
      { use: 'call_b1', isError: true },
    ])
    const request = messages.filter((message) => message.request === 'resp_1')
    expect(request).toHaveLength(4)
    for (const { usage, model } of request) {
      expect({ usage, model }).toEqual({
        usage: { input: 4900, cacheWritten: 0, cacheRead: 100, output: 20 },
        model: 'stub-model',
      })
    }
    expect(world.items(CODEX).filter(({ type }) => type === 'compaction')).toMatchObject([
      { tokensBefore: 60_020 },
      { tokensBefore: 60_020 },
    ])
    expect(messages.filter(({ isSummary }) => isSummary)).toHaveLength(2)
    expect(messages.at(-1)).toMatchObject({ isFailure: true, role: 'assistant' })
    expect(world.items(FORK)[0]).toMatchObject({ type: 'began', forkOf: CODEX })
  })

  test('Gemini CLI transcripts, each message once though written four times', async () => {
    const world = new ImportWorld().plantAll()
    await world.import({ harnesses: ['gemini'] })
    const messages = world.messages(GEMINI)
    const asked = messages.filter(
      ({ role, isMeta, isSummary, parts }) =>
        role === 'user' && !isMeta && !isSummary && parts[0]?.type === 'text',
    )
    expect(asked.map(({ parts }) => textsOf(parts)[0])).toEqual([
      'please RUN it @p.png',
      'BIG one',
      'more BIG',
      'RUN again BIG',
    ])
    const first = messages.find(({ role }) => role === 'assistant')
    expect(first).toMatchObject({
      model: 'gemini-2.5-flash',
      usage: { input: 2500, cacheRead: 100, output: 25 },
    })
    const compaction = world.items(GEMINI).findIndex(({ type }) => type === 'compaction')
    const before = world.items(GEMINI).slice(0, compaction)
    const after = world.items(GEMINI).slice(compaction)
    for (const [items, count] of [
      [before, 4],
      [after, 2],
    ] as const) {
      const parts = items.flatMap((item) => (item.type === 'message' ? item.parts : []))
      expect(ofType(parts, 'tool use')).toHaveLength(count)
      expect(
        ofType(parts, 'tool result')
          .map(({ use }) => use)
          .sort(),
      ).toEqual(
        ofType(parts, 'tool use')
          .map(({ id }) => id)
          .sort(),
      )
    }
    expect(after[1]).toMatchObject({
      isSummary: true,
      parts: [{ text: '<state_snapshot>SUMMARY</state_snapshot>' }],
    })
  })

  test('transcripts of an older Gemini CLI, written as one document', async () => {
    const world = new ImportWorld()
    const messages = Array.from({ length: 40 }, (_, n) => ({
      id: `m${n}`,
      timestamp: '2026-01-01T00:00:00.000Z',
      type: n % 2 === 0 ? 'user' : 'gemini',
      content: `message ${n} says "}]" and \\ [{`,
    }))
    const head = {
      sessionId: 'chat-1',
      projectHash: 'x',
      startTime: '2026-01-01T00:00:00.000Z',
      note: { messages: [{ id: 'no' }] },
    }
    const path = join(
      world.home,
      '.gemini',
      'tmp',
      'abc',
      'chats',
      'session-2026-01-01T00-00-chat.json',
    )
    write(path, JSON.stringify({ ...head, messages, summary: 'x' }, undefined, 2))
    write(join(world.home, '.gemini', 'tmp', 'abc', '.project_root'), `${world.project}\n`)
    expect(await world.import()).toMatchObject({ messages: 40, damaged: 0 })
    expect(world.messages('chat-1').map(({ id }) => id)).toEqual(messages.map(({ id }) => id))
    writeFileSync(
      path,
      JSON.stringify({ ...head, messages: [...messages, { ...messages[0], id: 'm40' }] }),
    )
    expect(await world.import()).toMatchObject({ messages: 1 })
  })

  test('opencode sessions, with subagents under their conversation', async () => {
    const world = new ImportWorld().plantAll()
    expect(await world.import({ harnesses: ['opencode'] })).toMatchObject({
      conversations: [{ conversation: OPENCODE }],
      damaged: 0,
    })
    const parts = partsOf(world, OPENCODE)
    expect(ofType(parts, 'image')).toHaveLength(1)
    expect(ofType(parts, 'thinking')).toMatchObject([{ text: 'thinking hard' }])
    expect(ofType(parts, 'tool use').map(({ name }) => name)).toEqual(['bash', 'read'])
    expect(ofType(parts, 'tool result').map(({ isError }) => isError)).toEqual([false, true])
    expect(world.items(OPENCODE).filter(({ type }) => type === 'compaction')).toMatchObject([
      { trigger: 'auto' },
    ])
    const messages = world.messages(OPENCODE)
    expect(messages.filter(({ isSummary }) => isSummary)).toHaveLength(1)
    expect(messages.at(-1)).toMatchObject({ isFailure: true, parts: [{ text: 'stub 400' }] })
    expect(messages.find(({ usage }) => usage !== undefined)?.usage).toEqual({
      input: 2900,
      cacheWritten: 0,
      cacheRead: 100,
      output: 20,
    })
    const [session] = (JSON.parse(world.recorded('opencode.json')) as Tables)['session']!
    world.plantDatabase({
      session: [{ ...session!, id: 'ses_child', parent_id: OPENCODE }],
      message: [
        {
          id: 'msg_c',
          session_id: 'ses_child',
          time_created: 5,
          time_updated: 5,
          data: '{"role":"user"}',
        },
      ],
      part: [
        {
          id: 'prt_c',
          message_id: 'msg_c',
          session_id: 'ses_child',
          time_created: 5,
          time_updated: 5,
          data: '{"type":"text","text":"go and look"}',
        },
      ],
    })
    expect(await world.import({ harnesses: ['opencode'] })).toMatchObject({ messages: 1 })
    expect(world.messages(OPENCODE).at(-1)).toMatchObject({
      agent: 'ses_child',
      parts: [{ text: 'go and look' }],
    })
  })

  test('reverts in opencode: messages undone, restored, or replaced', async () => {
    const world = new ImportWorld()
    const rows = JSON.parse(world.recorded('opencode.json')) as Tables
    world.plantDatabase({
      ...rows,
      session: rows['session']!.map((row) => ({ ...row, revert: null })),
    })
    const [BIG, AFTER_BIG] = ['msg_1e20f0034001ZoHbkLAtm6qvDa', 'msg_1e20f0f39001kXa2IxeEFSpRnQ']
    let now = 1794794013913
    const change = (sql: string, ...values: string[]) => {
      const database = new (loadSqlite().DatabaseSync)(world.opencode)
      database.prepare(sql).run(...values)
      database.prepare('UPDATE session SET time_updated = ?').run((now += 1000))
      database.close()
    }
    const revert = (to: object | undefined) =>
      change('UPDATE session SET revert = ?', JSON.stringify(to ?? null).replace('null', ''))
    const importedTexts = async (here = world) => {
      await here.import({ harnesses: ['opencode'] })
      return modelMessages(here.items(OPENCODE)).map(({ parts }) => textsOf(parts).at(-1))
    }
    const whole = await importedTexts()
    expect(whole.at(-1)).toContain('FAIL please')
    const items = world.items(OPENCODE)
    // The compaction after it is reverted with it.
    revert({ messageID: BIG })
    const first = await importedTexts()
    expect(first.at(-1)).toBe('done with it')
    expect(first[0]).toContain('please RUN it')
    expect(world.items(OPENCODE)).toEqual([
      ...items,
      expect.objectContaining({ type: 'taken back', from: BIG }),
    ])
    expect(await importedTexts()).toEqual(first)
    expect(world.items(OPENCODE)).toHaveLength(items.length + 1)
    revert(undefined)
    expect(await importedTexts()).toEqual(whole)
    // A revert within a message keeps the parts before it.
    revert({ messageID: AFTER_BIG, partID: 'prt_x' })
    expect((await importedTexts()).slice(first.length)).toEqual(['BIG one\n', 'done with it'])
    revert(undefined)
    expect(await importedTexts()).toEqual(whole)
    // Opencode deletes reverted messages at the next prompt, and both may happen between two imports.
    revert({ messageID: BIG })
    change('DELETE FROM message WHERE id >= ?', BIG)
    revert(undefined)
    change(
      `INSERT INTO message VALUES ('msg_new', '${OPENCODE}', ${now}, ${now}, '{"role":"user"}')`,
    )
    change(
      `INSERT INTO part VALUES ('prt_new', 'msg_new', '${OPENCODE}', ${now}, ${now}, '{"type":"text","text":"SMALL one"}')`,
    )
    expect((await importedTexts()).slice(first.length)).toEqual(['SMALL one'])
    rmSync(join(conversationStateFolder(world.workspace.paths), 'imports'), { recursive: true })
    expect((await importedTexts()).slice(first.length)).toEqual(['SMALL one'])
    // A first import gives the same result.
    const late = new ImportWorld()
    late.plantDatabase({
      ...rows,
      session: rows['session']!.map((row) => ({
        ...row,
        directory: late.project,
        revert: `{"messageID":"${BIG}"}`,
      })),
    })
    expect(await importedTexts(late)).toEqual(first)
  })

  test('only conversations of this project and its worktrees, or all that are named', async () => {
    const world = new ImportWorld().plantAll()
    git(world.project, 'commit', '--quiet', '--allow-empty', '-m', 'x')
    const tree = join(world.root, 'tree')
    git(world.project, 'worktree', 'add', '--quiet', tree)
    write(world.codex, world.recorded('codex.jsonl').replaceAll(world.project, tree))
    write(
      world.fork,
      world.recorded('codex-fork.jsonl').replaceAll(world.project, join(world.root, 'other')),
    )
    const nested = join(world.project, 'vendor', 'lib')
    mkdirSync(nested, { recursive: true })
    git(nested, 'init', '--quiet')
    write(world.claude, world.recorded('claude.jsonl').replaceAll(world.project, nested))
    rmSync(world.agent)
    const report = await world.import({ harnesses: ['claude', 'codex'] })
    expect(report.conversations.map(({ conversation }) => conversation)).toEqual([CODEX])
    expect(report.elsewhere).toBe(2)
    expect((await world.import({ paths: [world.fork] })).conversations).toMatchObject([
      { conversation: FORK },
    ])
  })
})

test('an import adds the project to the known projects', async () => {
  const world = new ImportWorld().plantAll()
  await world.import({ isDryRun: true })
  expect(knownProjects()).not.toContain(world.project)
  await world.import({ harnesses: ['claude'] })
  expect(knownProjects()).toContain(world.project)
})

test('imported messages are searchable at once, and indexing reports progress', async () => {
  const world = new ImportWorld().plantAll()
  const reports: ImportProgress[] = []
  const { conversations } = await world.import({ tell: (progress) => reports.push(progress) })
  const index = await world.workspace.index()
  expect(index.syncMessages(0)).toEqual({ bytesLeft: 0 })
  expect([...index.searchMessages({ text: '"said by the agent"' })]).toMatchObject([
    { conversation: CLAUDE },
  ])
  expect(conversations.length).toBeGreaterThan(3)
  const indexing = reports.find(({ isIndexing }) => isIndexing === true)!
  expect(indexing).toMatchObject({ bytes: 0 })
  expect(indexing.totalBytes).toBeGreaterThan(0)
  world.workspace.close()
})

describe('importing again', () => {
  test('finds nothing new and writes nothing', async () => {
    const world = new ImportWorld().plantAll()
    const first = await world.import()
    expect(first.conversations).toHaveLength(5)
    const before = [CLAUDE, CODEX, FORK, GEMINI, OPENCODE].map((id) => world.stored(id))
    expect(await world.import()).toMatchObject({
      conversations: [],
      messages: 0,
      bytes: 0,
      upToDate: 6,
    })
    expect([CLAUDE, CODEX, FORK, GEMINI, OPENCODE].map((id) => world.stored(id))).toEqual(before)
  })

  test('adds the rest of a transcript that has grown, from any line', async () => {
    for (const [name, conversation] of [
      ['claude.jsonl', CLAUDE],
      ['codex.jsonl', CODEX],
      ['gemini.jsonl', GEMINI],
    ] as const) {
      const whole = new ImportWorld().plantAll()
      await whole.import()
      const world = new ImportWorld().plantAll()
      const path =
        name === 'claude.jsonl' ? world.claude : name === 'codex.jsonl' ? world.codex : world.gemini
      const lines = world.recorded(name).trimEnd().split('\n')
      rmSync(world.agent)
      writeFileSync(path, '')
      for (let n = 0; n < lines.length; n += 14) {
        appendFileSync(path, `${lines.slice(n, n + 14).join('\n')}\n`)
        await world.import()
      }
      const withoutAgents = whole
        .items(conversation)
        .filter((item) => !('agent' in item) || item.agent === undefined)
      const plain = (items: readonly unknown[], root: string) =>
        JSON.parse(JSON.stringify(items).replaceAll(root, '')) as unknown[]
      const ids = (items: readonly unknown[]) => items.map((item) => (item as { id?: string }).id)
      expect(ids(plain(world.items(conversation), world.root))).toEqual(
        ids(plain(withoutAgents, whole.root)),
      )
    }
  })

  test('skips a pruned conversation until it grows, then imports all of it', async () => {
    const world = new ImportWorld().plantAll()
    await world.import()
    const before = world.items(CLAUDE)
    for (const id of [CLAUDE, OPENCODE])
      rmSync(join(world.project, '.sessions', 'conversations', `${id}.jsonl`))
    expect(await world.import()).toMatchObject({ messages: 0, upToDate: 6 })
    const added = {
      type: 'user',
      uuid: 'new-1',
      timestamp: '2026-11-16T03:00:00.000Z',
      message: { role: 'user', content: 'more' },
    }
    appendFileSync(world.claude, `${JSON.stringify(added)}\n`)
    const rows = JSON.parse(world.recorded('opencode.json')) as Tables
    rmSync(world.opencode)
    world.plantDatabase({
      ...rows,
      session: [{ ...rows['session']![0]!, time_updated: 1_900_000_000_000 }],
    })
    const { messages } = await world.import({ isDryRun: true })
    expect(await world.import()).toMatchObject({ messages })
    const after = world.items(CLAUDE)
    expect(after.filter((item) => !('id' in item) || item.id !== 'new-1')).toEqual(before)
    expect(after).toHaveLength(before.length + 1)
    expect(world.items(OPENCODE)[0]).toMatchObject({ type: 'began' })
    expect(messages).toBe(world.messages(CLAUDE).length + world.messages(OPENCODE).length)
  })

  test('skips a half-written line until it is complete', async () => {
    const world = new ImportWorld().plantAll()
    const text = world.recorded('claude.jsonl')
    const cut = text.lastIndexOf('"type":"assistant"')
    writeFileSync(world.claude, text.slice(0, cut))
    const first = await world.import({ harnesses: ['claude'] })
    writeFileSync(world.claude, text)
    const second = await world.import({ harnesses: ['claude'] })
    expect([first.damaged, second.damaged]).toEqual([0, 0])
    expect(second.messages).toBeGreaterThan(0)
    expect(first.messages + second.messages).toBe(world.messages(CLAUDE).length)
  })

  test('stores nothing twice without its cursors, and adds what a rewritten file has more', async () => {
    const world = new ImportWorld().plantAll()
    await world.import()
    const before = world.items(CLAUDE)
    rmSync(join(world.project, '.git', 'stint'), { recursive: true })
    expect(await world.import()).toMatchObject({ messages: 0, damaged: 0 })
    expect(world.items(CLAUDE)).toEqual(before)
    const lines = world.recorded('claude.jsonl').trimEnd().split('\n')
    const more = JSON.stringify({
      type: 'user',
      uuid: 'new-1',
      timestamp: '2026-11-16T03:00:00.000Z',
      message: { role: 'user', content: 'anew' },
    })
    rmSync(world.claude)
    writeFileSync(world.claude, `${[more, ...lines].join('\n')}\n`)
    expect((await world.import({ harnesses: ['claude'] })).messages).toBe(1)
  })

  test('adds only later messages to a conversation that Stint recorded under other ids', async () => {
    const world = new ImportWorld().plantAll()
    const store = conversationStore(join(world.project, '.sessions'), {})
    const at = '2026-11-16T01:52:51.320Z'
    store.append(CODEX, [
      {
        type: 'message',
        id: 'driver-1',
        at,
        role: 'user',
        parts: [{ type: 'text', text: 'and now more' }],
      },
    ])
    await world.import({ harnesses: ['codex'] })
    const messages = world.messages(CODEX).filter(({ isMeta, isSummary }) => !isMeta && !isSummary)
    expect(messages.map(({ parts }) => textsOf(parts)[0])).toEqual([
      'and now more',
      'done with it',
      'FAIL please',
      expect.stringContaining('stub 400'),
    ])
  })
})

describe('while an import is running', () => {
  test('a second one into the same project is refused, and a dry run works', async () => {
    const world = new ImportWorld().plantAll()
    const [first, second, dry] = await Promise.allSettled([
      world.import(),
      world.import(),
      world.import({ isDryRun: true }),
    ])
    expect(first).toMatchObject({ value: { conversations: { length: 5 } } })
    expect(second).toMatchObject({ reason: { code: 'IMPORT_RUNNING' } })
    expect(dry.status).toBe('fulfilled')
    expect(await world.import()).toMatchObject({ messages: 0 })
  })

  test('the lock of a killed import does not block', async () => {
    const world = new ImportWorld().plantAll()
    const lock = join(conversationStateFolder(world.workspace.paths), 'imports', 'lock')
    write(lock, `${process.pid} ${processStartTime(process.pid)} ${hostname()}`)
    await expect(world.import()).rejects.toMatchObject({ code: 'IMPORT_RUNNING' })
    for (const owner of [`4194305 1 ${hostname()}`, `${process.pid} 1 ${hostname()}`]) {
      write(lock, owner)
      appendFileSync(world.claude, '{}\n')
      expect((await world.import()).unread).toEqual([])
      expect(existsSync(lock)).toBe(false)
    }
  })
})

test('several threads import the same as one', async () => {
  const [one, two] = [new ImportWorld().plantAll(), new ImportWorld().plantAll()]
  const [alone, together] = [await one.import(), await two.import({ threads: 2 })]
  expect({ ...together, conversations: together.conversations.length }).toEqual({
    ...alone,
    conversations: alone.conversations.length,
  })
  for (const id of [CLAUDE, CODEX, FORK, GEMINI, OPENCODE]) {
    expect(two.stored(id)).toBe(one.stored(id).replaceAll(one.root, two.root))
  }
  expect(await two.import({ threads: 2 })).toMatchObject({ messages: 0, bytes: 0 })
})

describe('an import skips', () => {
  test('unreadable or too long lines, and counts them', async () => {
    const world = new ImportWorld().plantAll()
    const lines = world.recorded('claude.jsonl').trimEnd().split('\n')
    const long = JSON.stringify({
      type: 'user',
      uuid: 'long',
      message: { role: 'user', content: 'x'.repeat(9_000_000) },
    })
    writeFileSync(
      world.claude,
      `${[...lines.slice(0, 5), 'no json', '{"type":"user", cut', long, ...lines.slice(5)].join('\n')}\n`,
    )
    const report = await world.import({ harnesses: ['claude'] })
    expect(report.damaged).toBe(3)
    expect(report.messages).toBe(
      (await new ImportWorld().plantAll().import({ harnesses: ['claude'] })).messages,
    )
  })

  test('a locked, damaged or foreign database, and imports the rest', async () => {
    const world = new ImportWorld().plantAll()
    const lock = new (loadSqlite().DatabaseSync)(world.opencode)
    lock.exec('BEGIN EXCLUSIVE')
    const locked = await world.import()
    expect(locked.unread).toMatchObject([
      { path: world.opencode, problem: expect.stringContaining('again later') },
    ])
    expect(locked.conversations).toHaveLength(4)
    lock.exec('ROLLBACK')
    lock.close()
    truncateSync(world.opencode, Math.floor(statSync(world.opencode).size / 2))
    expect((await world.import()).unread).toMatchObject([{ path: world.opencode }])
    writeFileSync(world.opencode, 'not a database at all'.repeat(100))
    expect((await world.import()).unread).toMatchObject([
      { path: world.opencode, problem: 'it is damaged' },
    ])
  })

  test('a message that opencode is still writing, until it is complete', async () => {
    const world = new ImportWorld()
    const rows = JSON.parse(world.recorded('opencode.json')) as Tables
    const last = rows['message']!.at(-1)!
    const { error: _error, ...open } = JSON.parse(String(last['data'])) as {
      error: unknown
      time: object
    }
    const writing = JSON.stringify({ ...open, time: { created: 1 } })
    world.plantDatabase({
      ...rows,
      message: [...rows['message']!.slice(0, -1), { ...last, data: writing }],
    })
    await world.import()
    const before = world.messages(OPENCODE).length
    rmSync(world.opencode)
    world.plantDatabase({
      ...rows,
      session: [{ ...rows['session']![0]!, time_updated: 1_900_000_000_000 }],
    })
    expect(await world.import()).toMatchObject({ messages: 1 })
    expect(world.messages(OPENCODE)).toHaveLength(before + 1)
  })

  test('files older than --since, and stores nothing on a dry run', async () => {
    const world = new ImportWorld().plantAll()
    const dry = await world.import({ isDryRun: true })
    expect(dry).toMatchObject({
      isDryRun: true,
      conversations: expect.objectContaining({ length: 5 }),
    })
    expect(existsSync(join(world.project, '.sessions'))).toBe(false)
    expect(existsSync(join(world.project, '.git', 'stint'))).toBe(false)
    expect(
      await world.import({
        since: new Date(Date.now() + 60_000).toISOString(),
        harnesses: ['claude', 'codex'],
      }),
    ).toMatchObject({
      messages: 0,
    })
    expect((await world.import()).messages).toBe(dry.messages)
  })

  test('secrets', async () => {
    const world = new ImportWorld().plantAll()
    const secret = `ghp_${'a1B2'.repeat(10)}`
    const line = {
      type: 'user',
      uuid: 'u1',
      timestamp: '2026-01-01T00:00:00Z',
      message: { role: 'user', content: `use ${secret} for it` },
    }
    appendFileSync(world.claude, `${JSON.stringify(line)}\n`)
    await world.import()
    expect(world.stored(CLAUDE)).not.toContain(secret)
    expect(readFileSync(world.claude, 'utf8')).toContain(secret)
    expect(textsOf(partsOf(world, CLAUDE))).toContain('use [redacted:github-token] for it')
  })
})
