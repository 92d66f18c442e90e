// The page's server with a hundred thousand sessions and a conversation of fifty thousand messages:
// HTTP requests against the same query in the same process, and a page of a long conversation
// against one of a short one.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'
import { generateProject, sourceOf } from './index-project.mjs'
import { paired } from './paired.mjs'
import { peakMemory } from './processes.mjs'

const SOURCES = {
  'src/serve/start-server.ts': ['startServer'],
  'src/history/paths.ts': ['conversationPath'],
  'src/history/store.ts': ['conversationStore'],
  'src/index/open-index.ts': ['openIndex'],
  'src/index/sqlite.ts': ['loadSqlite'],
  'src/journal/record.ts': ['encodeRecord'],
  'src/journal/ids.ts': ['mintId'],
}
const SESSIONS = 100_000
const SMALL = 1_000
const MESSAGES = 50_000
const SHORT = 500
const TOKEN = 'token-of-the-benchmark'
/** Limit relative to the SQL for the same page and its total. */
const LIST_LIMIT = 3
/** Limit for a conversation a hundred times as long. */
const PAGE_LIMIT = 2
/**
 * Memory limit with a hundred times as many sessions: their names are compared once, and nothing
 * else grows with them.
 */
const MEMORY_LIMIT = 2

/** Runs everything at a fraction of the full size. `ok` is false if a limit is exceeded. */
export async function run({ scale = 1, say = console.error } = {}) {
  const bundle = await bundleSources(SOURCES)
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-serve-'))
  try {
    const parts = await import(pathToFileURL(bundle.file).href)
    const [project, small] = [join(folder, 'project'), join(folder, 'small')]
    const sessions = Math.max(2_000, Math.round(SESSIONS * scale))
    await makeProject(project, sessions, parts, say)
    await makeProject(small, SMALL, parts, () => undefined)
    const env = { ...process.env, STINT_STATE_HOME: join(folder, 'state') }
    const memory = memoryOf(bundle.file, { project, small, sessions, env })
    return [...(await measured(parts, project, { sessions, scale, env })), memory]
  } finally {
    bundle.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function makeProject(project, sessions, parts, say) {
  mkdirSync(project)
  const progress = (label) => (done) =>
    done % 10_000 === 0 && say(`${label}: ${done} of ${sessions} sessions`)
  generateProject(project, sessions, parts, progress('writing journals'))
  ;(
    await parts.openIndex(sourceOf(project), { say, progress: progress('building the index') })
  ).close()
}

/** A separate server after serving the first page, the last page and a search. */
function memoryOf(bundle, { project, small, sessions, env }) {
  const peak = (cwd, count) =>
    peakMemory(`
      const { startServer } = await import(${JSON.stringify(pathToFileURL(bundle).href)})
      const env = { ...process.env, STINT_STATE_HOME: ${JSON.stringify(env.STINT_STATE_HOME)} }
      const server = await startServer({ cwd: ${JSON.stringify(cwd)}, env, version: '0', token: '${TOKEN}', port: 0 })
      for (const query of ['offset=0', 'offset=${count - 50}', 'text=hits100']) {
        const address = new URL('/api/sessions?limit=50&' + query, server.address)
        const answer = await fetch(address, { headers: { cookie: 'stint-' + server.port + '=${TOKEN}' } })
        if ((await answer.json()).rows.length === 0) throw new Error('no sessions on the page ' + query)
      }
      await server.close()`)
  const [ours, bare] = [peak(project, sessions), peak(small, SMALL)]
  const [large, few] = [sessions, SMALL].map((count) => count.toLocaleString('en'))
  const figures = {
    name: `page, memory of its server at ${large} sessions, against ${few}`,
    ours,
    bare,
    unit: 'MB',
    ratio: ours / bare,
  }
  return { ...figures, limit: `at most ${MEMORY_LIMIT}`, ok: ours / bare <= MEMORY_LIMIT }
}

async function measured(parts, project, { sessions, scale, env }) {
  const server = await parts.startServer({ cwd: project, env, version: '0', token: TOKEN, port: 0 })
  try {
    const get = async (path) => {
      const answer = await fetch(new URL(path, server.address), {
        headers: { cookie: `stint-${server.port}=${TOKEN}` },
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    }
    return [
      ...(await lists(get, parts, project, sessions)),
      ...(await conversations(get, parts, project, scale)),
    ]
  } finally {
    await server.close()
  }
}

async function lists(get, parts, project, sessions) {
  const database = new (parts.loadSqlite().DatabaseSync)(join(project, '.sessions', 'index.db'))
  const pages = [
    ['first page', '', '1', 0],
    ['last page', '', '1', sessions - 50],
    [
      'completed, in the middle',
      '&status=completed',
      "status = 'completed'",
      Math.round(sessions / 3),
    ],
    [
      'with a word',
      '&text=hits10000',
      "key IN (SELECT session FROM entries WHERE key IN (SELECT rowid FROM texts WHERE texts MATCH 'hits10000'))",
      0,
    ],
  ]
  const results = []
  for (const [name, query, where, offset] of pages) {
    const ours = async () => {
      const { rows, total } = await get(`/api/sessions?limit=50&offset=${offset}${query}`)
      return `${total} ${rows.map(({ id }) => id).join()}`
    }
    const bare = async () => {
      const rows = database
        .prepare(
          `SELECT * FROM sessions WHERE entry_count > 0 AND ${where} ORDER BY updated_at DESC, id DESC LIMIT 50 OFFSET ?`,
        )
        .all(offset)
      const { total } = database
        .prepare(`SELECT count(*) AS total FROM sessions WHERE entry_count > 0 AND ${where}`)
        .get()
      return `${total} ${rows.map(({ id }) => id).join()}`
    }
    if ((await ours()) !== (await bare())) throw new Error(`${name}: the two answers differ`)
    const { a, b, ratio } = await paired(ours, bare)
    // The cost of an empty page is all HTTP.
    results.push({
      name: `page, ${sessions.toLocaleString('en')} sessions, ${name}, against bare SQL`,
      ours: a,
      bare: b,
      ratio,
      limit: `at most ${LIST_LIMIT}, or 25 ms`,
      ok: ratio <= LIST_LIMIT || a < 25,
    })
  }
  database.close()
  return results
}

async function timed(work) {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** The minimum: reading every message once. */
function parseLines(path) {
  for (const line of readFileSync(path, 'utf8').split('\n')) if (line !== '') JSON.parse(line)
}

async function conversations(get, parts, project, scale) {
  const store = parts.conversationStore(join(project, '.sessions'), {})
  const messages = Math.max(SHORT, Math.round(MESSAGES * scale))
  const usage = { input: 1, cacheWritten: 0, cacheRead: 20_000, output: 300 }
  const talk = (id, count) => {
    const item = (number) => ({
      type: 'message',
      id: `${id}-${number}`,
      at: new Date(1_790_000_000_000 + number * 1000).toISOString(),
      role: number % 2 === 0 ? 'user' : 'assistant',
      parts: [
        { type: 'text', text: `Message ${number}: ${'words that say something '.repeat(20)}` },
      ],
      ...(number % 2 === 0 ? {} : { model: 'claude-opus-5', usage }),
    })
    store.append(
      id,
      Array.from({ length: count }, (_, number) => item(number)),
      { isUnsynced: true },
    )
  }
  talk('long', messages)
  talk('short', SHORT)
  const read = await timed(() => get('/api/conversations/long?limit=1'))
  const bare = await timed(() =>
    parseLines(parts.conversationPath(join(project, '.sessions'), 'long')),
  )
  await get('/api/conversations/short?limit=1')
  const pages = [
    ['middle', (count) => Math.round(count / 2)],
    ['end', (count) => count - 100],
  ]
  const results = [
    {
      name: `page, a conversation of ${messages.toLocaleString('en')} messages read through, against JSON.parse of its lines`,
      ours: read,
      bare,
      ratio: read / bare,
      limit: 'none: it is done once',
      ok: true,
    },
  ]
  for (const [name, at] of pages) {
    const ask = (id, count) =>
      get(`/api/conversations/${id}?from=${at(count)}&limit=100&known=${count / 2}`)
    const { a, b, ratio } = await paired(
      () => ask('long', messages),
      () => ask('short', SHORT),
    )
    results.push({
      name: `page, conversation of ${messages.toLocaleString('en')} messages, ${name}, against one of ${SHORT}`,
      ours: a,
      bare: b,
      ratio,
      limit: `at most ${PAGE_LIMIT}`,
      ok: ratio <= PAGE_LIMIT,
    })
  }
  return results
}
