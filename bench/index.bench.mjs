// Lists and searches at a hundred thousand sessions and a million entries, against the bare SQL for
// the same answer in the same process; and the memory that a list takes at two sizes.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'
import { HIT_COUNTS, generateProject, sourceOf } from './index-project.mjs'
import { median, paired } from './paired.mjs'

const SOURCES = {
  'src/index/open-index.ts': ['openIndex'],
  'src/index/touched.ts': ['markTouched'],
  'src/index/sqlite.ts': ['loadSqlite'],
  'src/journal/record.ts': ['encodeRecord'],
  'src/journal/ids.ts': ['mintId'],
}
const SESSIONS = 100_000
const SMALL = 1_000
/** What Stint may cost over the SQL that a person would write for the question. */
const RATIO_LIMIT = 2
/** What a list of a hundred times as many sessions may take in memory: noise, but nothing that grows with it. */
const MEMORY_LIMIT = 1.5

const COLUMNS = `id, name, title, status, branch, worktree, goal, tldr, created_at, updated_at, closed_at, compactions,
  steps_done, steps_total, decisions, discoveries, open_blockers, entry_count, tasks`

const LISTS = [
  ['list, all', {}, 'ORDER BY updated_at DESC, id DESC', []],
  ['list, all by name', { sort: 'name' }, 'ORDER BY name, id', []],
  ['list, first 50', { limit: 50 }, 'ORDER BY updated_at DESC, id DESC LIMIT 50', []],
  ['list, completed', { status: ['completed'] }, 'WHERE status = ? ORDER BY updated_at DESC, id DESC', ['completed']],
  [
    'list, open',
    { status: ['active', 'paused'] },
    'WHERE status IN (?, ?) ORDER BY updated_at DESC, id DESC',
    ['active', 'paused'],
  ],
  ['list, one branch', { branch: 'release' }, 'WHERE branch = ? ORDER BY updated_at DESC, id DESC', ['release']],
  ['list, part of a name', { name: 'drali' }, "WHERE name LIKE '%drali%' ORDER BY updated_at DESC, id DESC", []],
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

/** Runs everything at a share of the full size. Answers the results; `ok` is false where a limit is passed. */
export async function run({ scale = 1, say = console.error } = {}) {
  const bundle = await bundleSources(SOURCES)
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-index-'))
  try {
    const parts = await import(pathToFileURL(bundle.file).href)
    const sessions = Math.max(SMALL, Math.round(SESSIONS * scale))
    const [large, small] = [join(folder, 'large'), join(folder, 'small')]
    const progress = (what) => (done, total) => done % 10_000 === 0 && say(`${what}: ${done} of ${total} sessions`)
    generateProject(large, sessions, parts, progress('writing journals'))
    generateProject(small, SMALL, parts)
    ;(await parts.openIndex(sourceOf(small), { say })).close()
    const started = performance.now()
    const index = await parts.openIndex(sourceOf(large), { say, progress: progress('building the index') })
    const built = performance.now() - started
    const { entries } = index.counts()
    const results = [
      { name: 'build', note: `${sessions} sessions, ${entries} entries in ${(built / 1000).toFixed(1)} s`, ok: true },
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

async function lists(index, parts, project) {
  const database = bareDatabase(parts, project)
  const results = []
  for (const [name, filter, clause, values] of LISTS) {
    const ours = () => Array.from(index.sessions(filter), (row) => row.id).join()
    const bare = () =>
      Array.from(database.prepare(`SELECT ${COLUMNS} FROM sessions ${clause}`).iterate(...values), (row) => row.id).join()
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
      const bare = () => Array.from(database.prepare(SEARCH).iterate(`hits${hits}`, limit), (hit) => hit.entry).join()
      const found = [...index.search({ text: `hits${hits}` })].length
      results.push(await compare(`search, ${found} hits${limit === -1 ? '' : `, first ${limit}`}`, ours, bare))
    }
  }
  database.close()
  return results
}

async function compare(name, ours, bare) {
  if (ours() !== bare()) throw new Error(`${name}: the two answers differ`)
  const { a, b, ratio } = await paired(ours, bare)
  return { name, ours: a, bare: b, ratio, limit: `at most ${RATIO_LIMIT}`, ok: ratio <= RATIO_LIMIT }
}

/** What bringing it up to date costs: with nothing new, and with one new entry in a short and in a long session. */
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
    appendFileSync(source.log(session).path, Buffer.concat(Array.from({ length: count }, () => parts.encodeRecord(draft()))))
  }
  const timed = (prepare) => {
    const times = Array.from({ length: 11 }, () => {
      prepare()
      const start = performance.now()
      index.sync()
      return performance.now() - start
    })
    return `${median(times).toFixed(2)} ms`
  }
  const results = [
    { name: 'sync, nothing new', note: timed(() => undefined), ok: true },
    { name: 'sync, one entry in a short session', note: timed(() => grow(1)), ok: true },
  ]
  grow(10_000)
  index.sync()
  results.push({ name: 'sync, one entry in a session of 10,000', note: timed(() => grow(1)), ok: true })
  return results
}

function memory(bundle, large, small, sessions) {
  const peak = (project) => {
    const script = `
      const { openIndex } = await import(${JSON.stringify(pathToFileURL(bundle).href)})
      const { sourceOf } = await import(${JSON.stringify(new URL('./index-project.mjs', import.meta.url).href)})
      const index = await openIndex(sourceOf(${JSON.stringify(project)}), { say: () => undefined })
      let listed = 0
      for (const row of index.sessions()) listed += row.id.length / 36
      // Linux hands the peak of the parent on to a child in maxRSS, but not in VmHWM.
      const { readFileSync } = await import('node:fs')
      const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : ''
      const peak = Number(/VmHWM:\\s*(\\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS)
      console.log(JSON.stringify({ listed, peak }))`
    return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }))
  }
  const runs = Array.from({ length: 5 }, () => ({ large: peak(large), small: peak(small) }))
  const [ofLarge, ofSmall] = ['large', 'small'].map((size) => median(runs.map((it) => it[size].peak)) / 1024)
  const note = `${ofLarge.toFixed(0)} MB for ${sessions}, ${ofSmall.toFixed(0)} MB for ${SMALL} sessions`
  return {
    name: 'memory of a list',
    note,
    ratio: ofLarge / ofSmall,
    limit: `at most ${MEMORY_LIMIT}`,
    ok: ofLarge / ofSmall <= MEMORY_LIMIT,
  }
}

function bareDatabase(parts, project) {
  return new (parts.loadSqlite().DatabaseSync)(join(project, '.sessions', 'index.db'))
}

function line({ name, ours, bare, ratio, note, ok }) {
  const figures = ours === undefined ? '' : `${ours.toFixed(2)} ms against ${bare.toFixed(2)} ms`
  return `${ok ? 'ok  ' : 'OVER'} ${name.padEnd(42)} ${[note, figures].filter(Boolean).join(' ')}${ratio === undefined ? '' : `  x${ratio.toFixed(2)}`}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const results = await run({ scale: Number(process.env.BENCH_SCALE ?? 1) })
  for (const result of results) console.log(line(result))
  process.exitCode = results.every((result) => result.ok) ? 0 : 1
}
