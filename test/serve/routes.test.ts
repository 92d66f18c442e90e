import { randomUUID } from 'node:crypto'
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HistoryItem } from '../../src/history/items.ts'
import { conversationStore } from '../../src/history/store.ts'
import { mintId } from '../../src/journal/ids.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import type { RunEntryData, RunEntryKind, RunRow } from '../../src/run/entries.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import type {
  ConversationList,
  ConversationPage,
  DelegatePage,
  EntryList,
  PublicHandoff,
  HandoffPage,
  ServerOverview,
  RunPage,
  SearchResults,
  SessionList,
  SessionPage,
  TokenCurveData,
  UsageReport,
  WorkflowRow,
} from '../../src/serve/contract.ts'
import type { DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import { startServer } from '../../src/serve/start-server.ts'
import { draftEntry } from '../../src/session/entries.ts'
import type { PublicTask } from '../../src/public/projection.ts'
import { DelegateWorld, NOBODY } from '../delegate/delegate-world.ts'
import { gitProject } from '../support/project.ts'
import { Served } from './served.ts'

let served: Served
beforeAll(async () => {
  served = await Served.start()
})
afterAll(() => served.end())

const code = async (path: string) => {
  const answer = await served.request(path)
  return [answer.status, answer.json<{ code: string }>().code]
}

describe('the overview', () => {
  test('lists the projects of this machine and the harnesses', async () => {
    const other = gitProject()
    await other.run((project) => project.init({ name: 'elsewhere' }))
    const overview = await served.get<ServerOverview>('/api/overview')
    const { version, here, projects, harnesses } = overview
    expect(version).toBe('1.2.3')
    expect(projects.find(({ key }) => key === here)?.root).toBe(served.world.root)
    const key = projects.find(({ root }) => root === other.root)!.key
    expect(projects.find((line) => line.key === key)).toMatchObject({ sessions: 1 })
    expect(harnesses).toContainEqual({ name: 'rehearsal', isScripted: true, isThere: true })
    const { rows } = await served.get<SessionList>(`/api/sessions?project=${key}`)
    expect(rows.map(({ name }) => name)).toEqual(['elsewhere'])
    expect(await code('/api/sessions?project=ffffffffffff')).toEqual([404, 'NOT_THERE'])
  })
})

describe('sessions', () => {
  test('are listed page by page with their total', async () => {
    expect(await served.get('/api/sessions')).toEqual({ rows: [], total: 0 })
    for (const name of ['one', 'two', 'three']) {
      await served.world.run((project) =>
        project.init({ name, goal: `the goal of ${name}`, force: true }),
      )
    }
    const page = await served.get<SessionList>('/api/sessions?limit=2&sort=name')
    expect([page.total, page.rows.map(({ name }) => name)]).toEqual([3, ['one', 'three']])
    const rest = await served.get<SessionList>('/api/sessions?limit=2&offset=2&sort=name')
    expect([rest.total, rest.rows.map(({ name }) => name)]).toEqual([3, ['two']])
    const open = await served.get<SessionList>('/api/sessions?status=active,paused')
    expect([open.total, open.rows.map(({ name }) => name)]).toEqual([1, ['three']])
    const found = await served.get<SessionList>('/api/sessions?text=goal+two&limit=1')
    expect([found.total, found.rows[0]?.name]).toEqual([1, 'two'])
    expect(await code('/api/sessions?status=gone')).toEqual([400, 'NO_STATUS'])
    expect(await code('/api/sessions?sort=size')).toEqual([400, 'NO_ORDER'])
    expect(await code('/api/sessions?limit=-1')).toEqual([400, 'NOT_A_NUMBER'])
    for (const name of ['nothing', '%00'])
      expect((await served.request(`/api/sessions/${name}`)).status).toBe(404)
  })

  test("are shown with state, document and the journal's end cursor", async () => {
    const { rows } = await served.get<SessionList>('/api/sessions?name=three')
    const page = await served.get<SessionPage>(`/api/sessions/${rows[0]!.id}`)
    expect(page.state.name).toBe('three')
    expect(page.document).toContain('the goal of three')
    const { entries, cursor, before } = await served.get<EntryList>(
      `/api/sessions/${rows[0]!.id}/entries`,
    )
    expect(cursor).toBe(page.cursor)
    expect(before).toBeUndefined()
    expect(entries[0]).toMatchObject({
      kind: 'session.opened',
      text: 'three\nthe goal of three',
      isRetracted: false,
    })
    expect((await served.get<SessionPage>('/api/sessions/three')).row.id).toBe(rows[0]!.id)
    expect(await code('/api/sessions/nobody')).toEqual([404, 'NO_SESSION'])
    expect(await code(`/api/sessions/${mintId(undefined)}/entries`)).toEqual([404, 'NO_SESSION'])
  })
})

describe('the entries of a long journal', () => {
  let id: string
  const COUNT = 700
  beforeAll(async () => {
    await served.world.run((project) => project.init({ name: 'long', force: true }))
    const steps = Array.from(
      { length: COUNT },
      (_, number) => `step ${number} ${'x'.repeat((number % 7) * 100)}`,
    )
    id = await served.append(
      'long',
      steps.map((text) => draftEntry('progress.made', { text })),
    )
  })

  const texts = (entries: EntryList['entries']) =>
    entries.map(({ text }) => text.split(' ').slice(0, 2).join(' '))

  test('come in pages forwards, each starting where the last ended', async () => {
    const all: string[] = []
    let cursor = 0
    for (;;) {
      const page = await served.get<EntryList>(
        `/api/sessions/${id}/entries?from=${cursor}&limit=97`,
      )
      all.push(...texts(page.entries))
      if (page.cursor === cursor) break
      cursor = page.cursor
    }
    expect(all.slice(1)).toEqual(Array.from({ length: COUNT }, (_, number) => `step ${number}`))
  })

  test('come in pages backwards from the newest', async () => {
    const all: string[] = []
    for (let before: number | undefined = -1; before !== undefined;) {
      const page: EntryList = await served.get(
        `/api/sessions/${id}/entries?limit=101${before === -1 ? '' : `&before=${before}`}`,
      )
      all.unshift(...texts(page.entries))
      before = page.before
    }
    expect(all.slice(1)).toEqual(Array.from({ length: COUNT }, (_, number) => `step ${number}`))
  })

  test('come complete even when one is longer than a read chunk', async () => {
    const text = 'word '.repeat(120_000).trim()
    const note = (said: string) => draftEntry('note.added', { text: said })
    const longest = await served.append('one', [note('before'), note(text), note('after')])
    const path = `/api/sessions/${longest}/entries`
    const forwards = (await served.get<EntryList>(`${path}?from=0`)).entries.map(
      (entry) => entry.text,
    )
    expect(forwards.slice(-3)).toEqual(['before', text, 'after'])
    const last = await served.get<EntryList>(`${path}?limit=1`)
    const middle = await served.get<EntryList>(`${path}?limit=1&before=${last.before}`)
    expect([...middle.entries, ...last.entries].map((entry) => entry.text)).toEqual([text, 'after'])
    await served.append('one', [note(text)])
    expect((await served.get<EntryList>(`${path}?limit=1`)).entries[0]!.text).toBe(text)
  })

  test('are refused for an invalid cursor', async () => {
    for (const from of [7, 10 ** 9])
      expect(await code(`/api/sessions/${id}/entries?from=${from}`)).toEqual([410, 'CURSOR_GONE'])
    expect(await code(`/api/sessions/${id}/entries?before=7`)).toEqual([410, 'CURSOR_GONE'])
  })

  test('mark a retracted entry and keep its text', async () => {
    const { entries } = await served.get<EntryList>(`/api/sessions/${id}/entries?limit=1`)
    await served.append('long', [draftEntry('entry.retracted', { entry: entries[0]!.id })])
    const page = await served.get<EntryList>(`/api/sessions/${id}/entries?limit=2`)
    expect(page.entries.map(({ kind, isRetracted }) => [kind, isRetracted])).toEqual([
      ['progress.made', true],
      ['entry.retracted', false],
    ])
  })
})

describe('a stored conversation', () => {
  const id = randomUUID()
  const day = new Date(Date.now() - 24 * 60 * 60_000).toISOString().slice(0, 10)
  const at = (second: number) =>
    new Date(Date.parse(`${day}T12:00:00Z`) + second * 1000).toISOString()
  const usage = (cacheRead: number) => ({ input: 10, cacheWritten: 0, cacheRead, output: 5 })
  const COUNT = 120
  const items: HistoryItem[] = [
    { type: 'began', conversation: id, harness: 'claude', at: at(0), model: 'claude-opus-5' },
    ...Array.from({ length: COUNT }, (_, number): HistoryItem[] => [
      {
        type: 'message',
        id: `u${number}`,
        at: at(number),
        role: 'user',
        parts: [{ type: 'text', text: `Question ${number}` }],
      },
      ...(number === 60
        ? [{ type: 'compaction', id: 'c', at: at(number), tokensBefore: 90_000 } as const]
        : []),
      {
        type: 'message',
        id: `a${number}`,
        at: at(number),
        role: 'assistant',
        parts: [{ type: 'text', text: `Answer ${number}` }],
        model: 'claude-opus-5',
        request: `r${number}`,
        usage: usage(number * 1000),
      },
    ]).flat(),
  ]
  beforeAll(() => {
    const store = conversationStore(served.world.path('.sessions'), {})
    store.append(id, items.slice(0, 150))
    // A restarted importer stores the same items again.
    store.append(id, items.slice(0, 20))
    store.append(id, items.slice(150))
  })

  test('comes in pages by item number, each item once', async () => {
    const all: HistoryItem[] = []
    for (let from = 0; ; from += 50) {
      const page = await served.get<ConversationPage>(
        `/api/conversations/${id}?from=${from}&limit=50`,
      )
      expect(page.total).toBe(items.length)
      all.push(...page.items)
      if (page.items.length === 0) break
    }
    expect(all).toEqual(items)
    const { line, requests, compactions } = await served.get<ConversationPage>(
      `/api/conversations/${id}?from=148&limit=4`,
    )
    expect(line).toMatchObject({
      id,
      harness: 'claude',
      title: 'Question 0',
      isStored: true,
      compactions: 1,
    })
    expect(requests[61]).toEqual({ number: 61 * 2 + 2, text: 'Question 61' })
    expect(compactions).toEqual([60 * 2 + 2])
    const rest = await served.get<ConversationPage>(
      `/api/conversations/${id}?limit=1&known=${COUNT - 1}`,
    )
    expect([rest.requestsFrom, rest.requests]).toEqual([COUNT - 1, requests.slice(-1)])
    // `known` from when the conversation was longer.
    const anew = await served.get<ConversationPage>(
      `/api/conversations/${id}?limit=1&known=${COUNT + 1}`,
    )
    expect([anew.requestsFrom, anew.requests]).toEqual([0, requests])
  })

  test('continues after it grew', async () => {
    const more: HistoryItem = {
      type: 'message',
      id: 'more',
      at: at(0),
      role: 'user',
      parts: [{ type: 'text', text: 'More' }],
    }
    const store = conversationStore(served.world.path('.sessions'), {})
    store.append(id, [more])
    const page = await served.get<ConversationPage>(`/api/conversations/${id}?from=${items.length}`)
    expect(page.items).toEqual([more])
    store.append(id, [items[3]!, more])
    const again = await served.get<ConversationPage>(
      `/api/conversations/${id}?from=${items.length}`,
    )
    expect([again.total, again.items]).toEqual([items.length + 1, [more]])
    expect(
      (await served.get<ConversationPage>(`/api/conversations/${id}?from=9999`)).items,
    ).toEqual([])
  })

  test('shows its token curve with stages and limits', async () => {
    const curve = await served.get<TokenCurveData>(`/api/conversations/${id}/curve`)
    expect(curve.points).toHaveLength(COUNT)
    expect(curve.points[2]).toEqual({ turn: 3, at: at(2), tokens: 2015 })
    expect(curve.compactions).toEqual([{ turn: 60, at: at(60), tokensBefore: 90_000 }])
    expect(curve.smartZone).toBe(100_000)
    expect(curve.stages.map(({ percent }) => percent)).toEqual([75, 85, 90])
    expect(curve.window).toBeGreaterThan(0)
  })

  test('counts in the usage by day and model', async () => {
    const { days, models, unpriced } = await served.get<UsageReport>('/api/usage?days=7')
    expect(days.find((one) => one.day === day)?.spend).toMatchObject({
      input: COUNT * 10,
      output: COUNT * 5,
    })
    expect(models.find(({ model }) => model === 'claude-opus-5')?.usd).toBeGreaterThan(0)
    expect(unpriced).toEqual([])
  })

  test('is not found under any other name', async () => {
    expect(await code(`/api/conversations/${randomUUID()}`)).toEqual([404, 'NOT_THERE'])
    expect(await code('/api/conversations/blobs%2Fx/curve')).toEqual([404, 'NOT_THERE'])
  })

  test('is listed with its session and adds to its cost', async () => {
    await served.append('long', [
      draftEntry('conversation.joined', { conversation: id, harness: 'claude', source: 'startup' }),
      draftEntry('conversation.joined', {
        conversation: 'unheard',
        harness: 'codex',
        source: 'startup',
      }),
    ])
    const { conversations, spend } = await served.get<SessionPage>('/api/sessions/long')
    expect(conversations.map(({ id: one, isStored, harness }) => [one, isStored, harness])).toEqual(
      [
        [id, true, 'claude'],
        ['unheard', false, 'codex'],
      ],
    )
    expect(spend.output).toBe(COUNT * 5)
    const { line } = await served.get<ConversationPage>(`/api/conversations/${id}?limit=1`)
    expect(line.session).toBe(served.world.sessionId('long'))
  })
})

test('conversations without a session are listed too, last written first', async () => {
  const other = gitProject()
  await other.run((project) => project.init({ name: 'elsewhere' }))
  const { projects } = await served.get<ServerOverview>('/api/overview')
  const key = projects.find(({ root }) => root === other.root)!.key
  const list = (query: string) =>
    served.get<ConversationList>(`/api/conversations?project=${key}${query}`)
  expect(await list('')).toEqual({ rows: [], total: 0 })
  const sessions = join(other.root, '.sessions')
  const store = conversationStore(sessions, {})
  const says = (id: string, text: string) =>
    ({ type: 'message', id, role: 'user', parts: [{ type: 'text', text }] }) satisfies HistoryItem
  for (const [number, id] of ['imported-b', 'imported-c', 'imported-a'].entries()) {
    store.append(id, [
      { type: 'began', conversation: id, harness: 'codex', at: '2026-03-01T09:00:00.000Z' },
      says('m1', `ask ${id}`),
    ])
    utimesSync(join(sessions, 'conversations', `${id}.jsonl`), 1_000 + number, 1_000 + number)
  }
  const { rows, total } = await list('&limit=2')
  expect([total, rows.map(({ title }) => title)]).toEqual([3, ['ask imported-a', 'ask imported-c']])
  expect(rows[0]).toMatchObject({ harness: 'codex', messages: 1, isStored: true })
  expect(rows[0]).not.toHaveProperty('session')
  store.append('imported-b', [says('m2', 'and more')])
  expect((await list('&limit=1')).rows).toMatchObject([{ id: 'imported-b', messages: 2 }])
  expect((await list('&offset=2')).rows.map(({ id }) => id)).toEqual(['imported-c'])
  expect((await list('&offset=9')).rows).toEqual([])
})

describe('a search', () => {
  test('finds journal entries and marks the matches', async () => {
    const { hits } = await served.get<SearchResults>('/api/search?text=goal+two')
    expect(hits[0]).toMatchObject({ where: 'journal', sessionName: 'two', kind: 'session.opened' })
    expect(hits[0]!.snippet).toContain('\u0001goal\u0002')
    expect(await code('/api/search?text=')).toEqual([400, 'EMPTY_TEXT'])
  })

  test('finds messages without an earlier search, because the server indexes by itself', async () => {
    const other = gitProject()
    const store = conversationStore(join(other.root, '.sessions'), {})
    store.append('imported-1', [
      { type: 'message', id: 'm1', role: 'user', parts: [{ type: 'text', text: 'an okapi' }] },
    ])
    const server = await startServer({ cwd: other.root, env: process.env, version: '1', port: 0 })
    try {
      const workspace = new Workspace(other.root)
      const index = await workspace.index()
      await expect.poll(() => [...index.searchMessages({ text: 'okapi' })].length).toBe(1)
      workspace.close()
    } finally {
      await server.close()
    }
  })
})

describe('the backlog', () => {
  test('adds a task and moves it', async () => {
    const added = (
      await served.post('/api/tasks', { title: 'Write it', size: 'S', labels: ['docs'] })
    ).json<PublicTask>()
    expect(added).toMatchObject({ title: 'Write it', size: 'S', labels: ['docs'], status: 'ready' })
    const moved = await served.post(`/api/tasks/${added.id}/status`, {
      status: 'completed',
      note: 'written',
    })
    expect(moved.json<PublicTask>()).toMatchObject({ status: 'completed', summary: 'written' })
    expect((await served.get<PublicTask[]>('/api/tasks')).map(({ status }) => status)).toEqual([
      'completed',
    ])
  })

  test.each([
    ['/api/tasks', {}, 400, 'EMPTY_TEXT'],
    ['/api/tasks', { title: 7 }, 400, 'WRONG_FIELD'],
    ['/api/tasks', { title: 'x', labels: 'docs' }, 400, 'WRONG_FIELD'],
    ['/api/tasks/nothing/status', { status: 'ready' }, 404, 'TASK_NOT_FOUND'],
    ['/api/tasks/nothing/status', { status: 'lost' }, 400, 'NO_STATUS'],
    ['/api/tasks/nothing/status', {}, 400, 'NO_STATUS'],
  ])('refuses %s %j', async (path, body, status, problem) => {
    const answer = await served.post(path, body)
    expect([answer.status, answer.json<{ code: string }>().code]).toEqual([status, problem])
  })
})

describe('handoffs', () => {
  test('are listed, and shown as Markdown', async () => {
    await served.world.run((project) =>
      project.handoffs.create({ session: 'long', reason: 'lunch' }),
    )
    const [line] = await served.get<PublicHandoff[]>('/api/handoffs')
    expect(line).toMatchObject({
      sessionName: 'long',
      reason: 'lunch',
      status: 'waiting',
      number: 1,
    })
    const page = await served.get<HandoffPage>(`/api/handoffs/${line!.id}`)
    expect(page.markdown).toContain('lunch')
    expect(await code(`/api/handoffs/${mintId(undefined)}`)).toEqual([404, 'NOT_THERE'])
  })
})

describe('a workflow', () => {
  test('is approved or rejected from the page', async () => {
    await served.world.run(async (project) => {
      const workflows = await project.workflows()
      await project.pause({ session: 'long' })
      await workflows.begin({ id: 'auth', name: 'User auth' })
      const goOn = (): Promise<unknown> => workflows.phase({ workflow: 'auth' }).then(goOn)
      await expect(goOn()).rejects.toMatchObject({ code: 'GATE_CLOSED' })
    })
    const [line] = await served.get<WorkflowRow[]>('/api/workflows')
    expect(line!.session.name).toBe('auth')
    expect(line!.workflow.next.who).toBe('person')
    const { id } = line!.session
    const rejected = await served.post(`/api/workflows/${id}/reject`, { note: 'too vague' })
    expect(rejected.json<WorkflowRow['workflow']>().next.who).toBe('anybody')
    expect(served.world.entries('phase.entered', id).at(-1)).toMatchObject({
      note: 'not approved: too vague',
    })
    const approved = await served.post(`/api/workflows/${id}/approve`, { note: 'fine' })
    expect(approved.status).toBe(200)
    expect(served.world.entries('phase.approved', id)).toMatchObject([{ note: 'fine' }])
    expect((await served.post(`/api/workflows/${id}/burn`)).status).toBe(404)
    expect((await served.post('/api/workflows/nobody/approve')).status).toBe(404)
  })
})

describe('delegates', () => {
  test('are shown with diff and status history, and merged', async () => {
    const { id } = new DelegateWorld(served.world).delegate('gift')
    expect((await served.get<DelegateRow[]>('/api/delegates')).map(({ name }) => name)).toEqual([
      'gift',
    ])
    const page = await served.get<DelegatePage>(`/api/delegates/${id}`)
    expect(page.diff).toContain('+gift')
    expect(page.isDiffCut).toBe(false)
    expect(page.moves.map(({ to }) => to)).toEqual(['running', 'ready'])
    const merged = await served.post(`/api/delegates/${id}/merge`)
    expect(merged.json()).toMatchObject({ how: 'merged', target: 'main' })
    expect(served.world.read('gift.txt')).toBe('gift\n')
  })

  test('are discarded with their commits kept, and invalid actions are refused', async () => {
    const { id } = new DelegateWorld(served.world).delegate('waste', {
      commits: [{ 'big.txt': 'line of it\n'.repeat(60_000) }],
    })
    const page = await served.get<DelegatePage>(`/api/delegates/${id}`)
    expect([page.isDiffCut, page.diff.length < 600_000]).toEqual([true, true])
    expect((await served.post(`/api/delegates/${id}/discard`)).json()).toMatchObject({
      status: 'discarded',
    })
    expect((await served.post(`/api/delegates/${id}/merge`)).json()).toMatchObject({
      how: 'not ready',
    })
    expect((await served.post(`/api/delegates/${id}/burn`)).status).toBe(404)
    expect((await served.post(`/api/delegates/${mintId(undefined)}/stop`)).status).toBe(404)
    expect(await code('/api/delegates/nobody')).toEqual([404, 'NO_DELEGATE'])
  })
})

const ELSEWHERE = { id: 'e1', name: 'elsewhere', title: 'Elsewhere' } as PublicTask

describe('runs', () => {
  test('are served from their logs: tasks with dependencies, a lane per session, retries', async () => {
    const workspace = new Workspace(served.world.root)
    const first = (await served.post('/api/tasks', { title: 'First' })).json<PublicTask>()
    const second = (
      await served.post('/api/tasks', { title: 'Second', dependsOn: [first.id] })
    ).json<PublicTask>()
    const third = (
      await served.post('/api/tasks', { title: 'Third', dependsOn: [second.id] })
    ).json<PublicTask>()
    const run = mintId(undefined)
    const log = RunLog.create(workspace.paths, run, workspace.config, {
      options: {},
      harness: 'rehearsal',
      source: '.tasks',
      tree: served.world.root,
      branch: 'main',
      base: served.world.git('rev-parse', 'HEAD').trim(),
      isInPlace: true,
      runner: { pid: process.pid, startedAt: processStartTime(process.pid), mark: '' },
    })
    const add = <K extends RunEntryKind>(kind: K, data: RunEntryData[K]) => log.append(kind, data)
    const attempt = (name: string, task: PublicTask, number: number, session: string) =>
      add('attempt.started', {
        attempt: name,
        task: { id: task.id, name: task.name, title: task.title },
        number,
        place: 'live conversation',
        session,
        conversation: 1,
        base: '',
        sizeClass: 'S',
        isFirst: number === 1,
        since: '',
        text: 1,
      } as never)
    add('session.opened', { session: 's1', name: 'run-1', number: 1, because: 'the first' })
    attempt('x1', first, 1, 's1')
    add('turn.ended', {
      attempt: 'x1',
      conversation: 1,
      how: 'completed',
      spent: { 'made-up': { input: 1, cacheWritten: 0, cacheRead: 0, output: 7 } },
      requests: 1,
      seconds: 1,
    })
    add('attempt.ended', { attempt: 'x1', outcome: 'failed', reason: 'red' })
    attempt('x2', first, 2, 's1')
    add('attempt.ended', { attempt: 'x2', outcome: 'done' })
    attempt('x3', second, 1, 's1')
    log.close()

    const rows = await served.get<RunRow[]>('/api/runs')
    expect(rows.map(({ id, state }) => [id, state])).toEqual([[run, 'running']])
    const page = await served.get<RunPage>(`/api/runs/${run}`)
    expect(page.report.how).toBe('running')
    expect(page.tasks.map(({ task, after, outcome }) => [task.title, after, outcome])).toEqual([
      ['First', [], 'done'],
      ['Second', [first.id], 'running'],
      ['Third', [second.id], 'open'],
    ])
    expect(third.id).toBe(page.tasks[2]!.task.id)
    expect(page.lanes).toMatchObject([
      {
        session: 's1',
        blocks: [
          { task: 'first', attempt: 1, outcome: 'failed', reason: 'red' },
          { task: 'first', attempt: 2, outcome: 'done' },
          { task: 'second', attempt: 1, outcome: 'running' },
        ],
      },
    ])
    expect(page.lanes[0]!.blocks[2]!.endedAt).toBeUndefined()
    const { unpriced } = await served.get<UsageReport>('/api/usage')
    expect(unpriced).toEqual(['made-up'])

    // Its process is gone: the attempt counts as interrupted.
    const again = new RunLog(workspace.paths, run, workspace.config)
    again.append('run.resumed', { runner: NOBODY })
    again.close()
    const [last] = (await served.get<RunPage>(`/api/runs/${run}`)).lanes[0]!.blocks.slice(-1)
    expect(last).toMatchObject({ outcome: 'failed', reason: 'interrupted' })
    expect(last!.endedAt).toBeDefined()
    expect(await code('/api/runs/nothing')).toEqual([404, 'NO_RUN'])

    // The run has ended and left one task open; another was completed since.
    const fourth = (await served.post('/api/tasks', { title: 'Fourth' })).json<PublicTask>()
    const over = new RunLog(workspace.paths, run, workspace.config)
    const named = ({ id, name, title }: PublicTask) => ({ id, name, title })
    over.append('run.ended', {
      how: 'waiting',
      neverBegun: { count: 3, tasks: [third, fourth, ELSEWHERE].map(named) },
    })
    over.close()
    await served.post(`/api/tasks/${fourth.id}/status`, { status: 'completed' })
    const ended = await served.get<RunPage>(`/api/runs/${run}`)
    expect([ended.row.state, ended.row.open]).toEqual(['ended', 4])
    expect(
      ended.tasks.slice(2).map(({ task, after, outcome }) => [task.title, after, outcome]),
    ).toEqual([
      ['Third', [second.id], 'open'],
      ['Elsewhere', [], 'open'],
    ])
    workspace.close()
  })
})
