// Lists and searches with a hundred thousand sessions and a million entries, against plain SQL for
// the same result in the same process; and the memory of a list at two sizes.
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'
import { HIT_COUNTS, generateProject, sourceOf } from './index-project.mjs'
import { median, paired } from './paired.mjs'
import { peakMemory } from './processes.mjs'

const SOURCES = {
  'src/index/open-index.ts': ['openIndex'],
  'src/index/touch-marks.ts': ['markTouched'],
  'src/index/sqlite.ts': ['loadSqlite'],
  'src/journal/record.ts': ['encodeRecord'],
  'src/journal/ids.ts': ['mintId'],
}
const SESSIONS = 100_000
const SMALL = 1_000
/** Limit relative to handwritten SQL. */
const RATIO_LIMIT = 2
/** Memory limit of a list of a hundred times as many sessions: noise, but no growth. */
const MEMORY_LIMIT = 1.5
/** Limit in milliseconds for bringing the index up to date. */
const SYNC_LIMIT = 25

const COLUMNS = `id, name, title, status, branch, worktree, goal, tldr, created_at, updated_at, closed_at, compactions,
  steps_done, steps_total, decisions, discoveries, open_blockers, entry_count, tasks`

const LISTS = [
  ['list, all', {}, 'ORDER BY updated_at DESC, id DESC', []],
  ['list, all by name', { sort: 'name' }, 'ORDER BY name, id', []],
  ['list, first 50', { limit: 50 }, 'ORDER BY updated_at DESC, id DESC LIMIT 50', []],
  [
    'list, completed',
    { status: ['completed'] },
    'WHERE status = ? ORDER BY updated_at DESC, id DESC',
    ['completed'],
  ],
  [
    'list, open',
    { status: ['active', 'paused'] },
    'WHERE status IN (?, ?) ORDER BY updated_at DESC, id DESC',
    ['active', 'paused'],
  ],
  [
    'list, one branch',
    { branch: 'release' },
    'WHERE branch = ? ORDER BY updated_at DESC, id DESC',
    ['release'],
  ],
  [
    'list, part of a name',
    { name: 'drali' },
    "WHERE name LIKE '%drali%' ORDER BY updated_at DESC, id DESC",
    [],
  ],
  [
    'list, one task',
    { task: 't-77' },
    'WHERE key IN (SELECT session FROM session_tasks WHERE task = ?) ORDER BY updated_at DESC, id DESC',
    ['t-77'],
  ],
  [
    'list, with a word',
    { text: 'hits100' },
    'WHERE key IN (SELECT session FROM entries WHERE key IN (SELECT rowid FROM texts WHERE texts MATCH ?)) ORDER BY updated_at DESC, id DESC',
    ['hits100'],
  ],
]

const SEARCH = `SELECT e.id AS entry, e.kind, e.at, s.id, s.name, s.title, s.status, bm25(texts) AS score,
    snippet(texts, 0, '«', '»', '…', 16) AS snippet
  FROM texts JOIN entries e ON e.key = texts.rowid JOIN sessions s ON s.key = e.session
  WHERE texts MATCH ? ORDER BY score, e.id LIMIT ?`

/** Runs everything at a fraction of the full size. `ok` is false if a limit is exceeded. */
export async function run({ scale = 1, say = console.error } = {}) {
  const bundle = await bundleSources(SOURCES)
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-index-'))
  try {
    const parts = await import(pathToFileURL(bundle.file).href)
    const sessions = Math.max(SMALL, Math.round(SESSIONS * scale))
    const [large, small] = [join(folder, 'large'), join(folder, 'small')]
    const progress = (label) => (done, total) =>
      done % 10_000 === 0 && say(`${label}: ${done} of ${total} sessions`)
    generateProject(large, sessions, parts, progress('writing journals'))
    generateProject(small, SMALL, parts)
    ;(await parts.openIndex(sourceOf(small), { say })).close()
    const started = performance.now()
    const index = await parts.openIndex(sourceOf(large), {
      say,
      progress: progress('building the index'),
    })
    const built = performance.now() - started
    const { entries } = index.counts()
    const name = `building it from ${sessions.toLocaleString('en')} sessions and ${entries.toLocaleString('en')} entries, against JSON.parse of their lines`
    const bare = parseAll(sourceOf(large))
    const results = [
      {
        name,
        ours: built / 1000,
        bare: bare / 1000,
        unit: 's',
        ratio: built / bare,
        limit: 'none: it is done once',
        ok: true,
      },
      ...(await lists(index, parts, large)),
      ...(await searches(index, parts, large)),
      ...syncs(index, parts, large),
      memory(bundle.file, large, small, sessions),
    ]
    index.close()
    return results
  } finally {
    bundle.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The minimum: reading every entry once. */
function parseAll(source) {
  const started = performance.now()
  for (const id of source.sessionIds())
    for (const line of readFileSync(source.log(id).path, 'utf8').split('\n'))
      if (line !== '') JSON.parse(line)
  return performance.now() - started
}

async function lists(index, parts, project) {
  const database = bareDatabase(parts, project)
  const results = []
  for (const [name, filter, clause, values] of LISTS) {
    const ours = () => Array.from(index.sessions(filter), (row) => row.id).join()
    const bare = () =>
      Array.from(
        database.prepare(`SELECT ${COLUMNS} FROM sessions ${clause}`).iterate(...values),
        (row) => row.id,
      ).join()
    results.push(await compare(name, ours, bare))
  }
  database.close()
  return results
}

async function searches(index, parts, project) {
  const database = bareDatabase(parts, project)
  const results = []
  for (const hits of HIT_COUNTS) {
    for (const limit of hits > 100 ? [20, -1] : [-1]) {
      const query = { text: `hits${hits}`, ...(limit === -1 ? {} : { limit }) }
      const ours = () => Array.from(index.search(query), (hit) => hit.entry).join()
      const bare = () =>
        Array.from(
          database.prepare(SEARCH).iterate(`hits${hits}`, limit),
          (hit) => hit.entry,
        ).join()
      const found = [...index.search({ text: `hits${hits}` })].length
      results.push(
        await compare(`search, ${found} hits${limit === -1 ? '' : `, first ${limit}`}`, ours, bare),
      )
    }
  }
  database.close()
  return results
}

async function compare(name, ours, bare) {
  if (ours() !== bare()) throw new Error(`${name}: the two answers differ`)
  const { a, b, ratio } = await paired(ours, bare)
  return {
    name,
    ours: a,
    bare: b,
    ratio,
    limit: `at most ${RATIO_LIMIT}`,
    ok: ratio <= RATIO_LIMIT,
  }
}

/**
 * The cost of updating the index: with nothing new, and with one new entry in a short and in a long
 * session.
 */
function syncs(index, parts, project) {
  const source = sourceOf(project)
  const [session] = source.sessionIds()
  let id
  const grow = (count) => {
    parts.markTouched(source.folder, session)
    const draft = () => ({
      id: (id = parts.mintId(id)),
      at: new Date().toISOString(),
      kind: 'note.added',
      by: 'bench',
      data: { text: 'one more note' },
    })
    appendFileSync(
      source.log(session).path,
      Buffer.concat(Array.from({ length: count }, () => parts.encodeRecord(draft()))),
    )
  }
  const timed = (name, prepare) => {
    const times = Array.from({ length: 11 }, () => {
      prepare()
      const start = performance.now()
      index.sync()
      return performance.now() - start
    })
    const ours = median(times)
    const figures = {
      name: `${name}, against the most`,
      ours,
      bare: SYNC_LIMIT,
      ratio: ours / SYNC_LIMIT,
    }
    return { ...figures, limit: 'at most 1', ok: ours <= SYNC_LIMIT }
  }
  const results = [
    timed('sync, nothing new', () => undefined),
    timed('sync, one entry in a short session', () => grow(1)),
  ]
  grow(10_000)
  index.sync()
  return [...results, timed('sync, one entry in a session of 10,000', () => grow(1))]
}

function memory(bundle, large, small, sessions) {
  const peak = (project) =>
    peakMemory(`
      const { openIndex } = await import(${JSON.stringify(pathToFileURL(bundle).href)})
      const { sourceOf } = await import(${JSON.stringify(new URL('./index-project.mjs', import.meta.url).href)})
      const index = await openIndex(sourceOf(${JSON.stringify(project)}), { say: () => undefined })
      let listed = 0
      for (const row of index.sessions()) listed += row.id.length / 36`)
  const runs = Array.from({ length: 5 }, () => ({ large: peak(large), small: peak(small) }))
  const [ofLarge, ofSmall] = ['large', 'small'].map((size) => median(runs.map((it) => it[size])))
  const ratio = ofLarge / ofSmall
  return {
    name: `memory of a list of ${sessions.toLocaleString('en')} sessions, against one of ${SMALL.toLocaleString('en')}`,
    ours: ofLarge,
    bare: ofSmall,
    unit: 'MB',
    ratio,
    limit: `at most ${MEMORY_LIMIT}`,
    ok: ratio <= MEMORY_LIMIT,
  }
}

function bareDatabase(parts, project) {
  return new (parts.loadSqlite().DatabaseSync)(join(project, '.sessions', 'index.db'))
}
