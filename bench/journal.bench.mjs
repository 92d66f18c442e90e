// The cost of durability over plain system calls for the same bytes, and of opening a long journal.
import {
  closeSync,
  constants,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'
import { paired } from './paired.mjs'

const SOURCES = {
  'src/journal/log.ts': ['Log'],
  'src/journal/record.ts': ['encodeRecord'],
  'src/journal/ids.ts': ['mintId'],
  'src/project/store/workspace.ts': ['Workspace'],
  'src/project/project-operations.ts': ['projectOperations'],
  'src/project/store/refresh-views.ts': ['refreshViews'],
  'src/session/entries.ts': ['draftEntry'],
}
/** Limit of a durable append relative to a plain append and fdatasync of the same bytes. */
const APPEND_LIMIT = 0.7
/** Limit of opening 10,000 entries relative to opening ten. */
const OPEN_LIMIT = 1.2

export async function run({ scale = 1 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-journal-'))
  const bundle = await bundleSources(SOURCES)
  try {
    const modules = await import(pathToFileURL(bundle.file).href)
    const batch = Math.max(50, Math.round(200 * scale))
    return [...(await appending(modules, folder, batch)), await opening(modules, folder, 10_000)]
  } finally {
    bundle.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function appending({ Log, Workspace, encodeRecord, draftEntry, mintId }, folder, batch) {
  const root = join(folder, 'append')
  execFileSync('git', ['init', '-q', root])
  const text = 'Implemented mutex wrapper in sweeper.go:245-260, '.repeat(8)
  const entry = { kind: 'progress.made', by: 'bench', data: { text } }
  const bytes = encodeRecord({ id: mintId(undefined), at: new Date().toISOString(), ...entry })
  const bare = openSync(
    join(root, 'bare.jsonl'),
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT,
  )
  const repeated = (work) => () => {
    for (let count = 0; count < batch; count += 1) work()
  }
  const against = async (name, append, limit) => {
    const measured = await paired(
      repeated(append),
      repeated(() => {
        writeSync(bare, bytes)
        fdatasyncSync(bare)
      }),
      { rounds: 31 },
    )
    const ratio = 1 / measured.ratio
    const figures = { name, ours: measured.a / batch, bare: measured.b / batch, ratio }
    return limit === undefined
      ? { ...figures, ok: true }
      : { ...figures, limit: `at least ${limit}`, ok: ratio >= limit }
  }
  const log = new Log({
    path: join(root, 'log.jsonl'),
    link: join(root, '.git', 'stint', 'log.jsonl'),
  })
  log.create([entry])
  const session = new Workspace(root).session(mintId(undefined))
  session.create([draftEntry('session.opened', { name: 'bench' })])
  const results = [
    await against(
      `durable append against bare append + fdatasync of the same ${bytes.length} bytes`,
      () => log.append([entry]),
      APPEND_LIMIT,
    ),
    await against('the same through a session, cleaned and redacted', () =>
      session.append([draftEntry('progress.made', { text })]),
    ),
  ]
  closeSync(bare)
  log.close()
  session.close()
  return results
}

async function opening(
  { Workspace, projectOperations, refreshViews, draftEntry, mintId },
  folder,
  entries,
) {
  const root = join(folder, 'open')
  execFileSync('git', ['init', '-q', root])
  const workspace = new Workspace(root)
  const make = async (count) => {
    const session = workspace.session(mintId(undefined))
    const made = [draftEntry('session.opened', { name: `of-${count}`, goal: 'Be opened' })]
    for (let index = 1; index < count; index += 1)
      made.push(KINDS[index % KINDS.length](draftEntry, index))
    session.create(made)
    await refreshViews(session)
  }
  await make(entries)
  await make(10)
  const project = projectOperations(new Workspace(root))
  const open = (name) => async () => {
    for (let count = 0; count < 20; count += 1)
      if ((await project.open(name)).name !== name) throw new Error('not opened')
  }
  const measured = await paired(open(`of-${entries}`), open('of-10'), { rounds: 41 })
  project.dispose()
  return {
    name: `opening a session of ${entries.toLocaleString('en')} entries against one of 10, through the library`,
    ours: measured.a / 20,
    bare: measured.b / 20,
    ratio: measured.ratio,
    limit: `at most ${OPEN_LIMIT}`,
    ok: measured.ratio <= OPEN_LIMIT,
  }
}

/** A long session: mostly progress and files, some decisions and discoveries. */
const KINDS = [
  (draftEntry, index) =>
    draftEntry('progress.made', { text: `Moved handler ${index} behind the new interface` }),
  (draftEntry, index) =>
    draftEntry('file.changed', { path: `src/handlers/handler-${index % 200}.ts` }),
  (draftEntry, index) =>
    draftEntry('discovery.made', { text: `Finding ${index}: the cache is keyed by host` }),
  (draftEntry, index) => draftEntry('progress.made', { text: `Tests of handler ${index} pass` }),
  (draftEntry, index) =>
    draftEntry('decision.made', { title: `Choice ${index}`, rationale: 'Simplest that works' }),
]
