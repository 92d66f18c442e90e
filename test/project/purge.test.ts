import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  linkSync,
  readFileSync,
  readdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { Log } from '../../src/journal/log.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import { StintError } from '../../src/library.ts'
import { type Project, openProject } from '../../src/core.ts'
import { PurgeMatcher } from '../../src/project/purge/purge-matcher.ts'
import { rewriteLog } from '../../src/project/purge/rewrite-log.ts'
import { bundleProgram } from '../support/bundle.ts'
import { terminal } from '../support/cli.ts'
import { KILL_AT_WRITE } from '../support/processes.ts'
import { git, initRepository, scratchFolder, temporaryFolder } from '../support/scratch.ts'

const SECRET = 'tr0ub4dor&3 "quoted" \\ é'
const run = promisify(execFile)

beforeAll(() => {
  process.env['STINT_STATE_HOME'] = temporaryFolder()
})

function repository(): string {
  const root = scratchFolder()
  initRepository(root)
  writeFileSync(join(root, 'a.txt'), 'one\n')
  git(root, 'add', 'a.txt')
  git(root, 'commit', '--quiet', '-m', 'first')
  return root
}

async function within<T>(root: string, work: (project: Project) => Promise<T>): Promise<T> {
  const project = openProject(root, { env: {} })
  try {
    return await work(project)
  } finally {
    project.dispose()
  }
}

/** A project with the secret everywhere it can get. */
async function leakyProject(secret = SECRET) {
  const root = repository()
  const id = await within(root, async (project) => {
    const { reading } = await project.init({ name: 'leak', goal: `find ${secret} out` })
    await project.log({
      entries: [
        { decision: 'Use it', rationale: `because ${secret} works` },
        { discovery: `first line\nthen ${secret} in the second` },
        { step: 'a step without it' },
        { file: 'a.txt', description: `holds ${secret}` },
      ],
    })
    await project.checkpoint({ note: `with ${secret}`, code: false })
    await project.tasks.add({ title: 'A task', description: `log in with ${secret}` })
    return reading.state.id
  })
  const folder = join(root, '.sessions', 'journal', id)
  return {
    root,
    id,
    folder,
    log: join(folder, 'log.jsonl'),
    link: join(root, '.git', 'stint', 'journal', `${id}.jsonl`),
  }
}

/** Files that hold the text, plain or as JSON, outside git's own objects. */
function filesWith(root: string, text: string): readonly string[] {
  const forms = [text, JSON.stringify(text).slice(1, -1)].flatMap((form) => ['-e', form])
  const found = spawnSync(
    'grep',
    ['-r', '-l', '-a', '-F', '--exclude-dir=objects', ...forms, root],
    { encoding: 'utf8' },
  )
  return found.stdout.split('\n').filter((line) => line !== '')
}

function documentOf(root: string): string {
  const [name] = readdirSync(join(root, '.sessions', 'active'))
  return join(root, '.sessions', 'active', name!)
}

test('leaves no byte of the secret in any file of the project or the git directory', async () => {
  const { root, folder, id } = await leakyProject()
  writeFileSync(
    join(root, '.sessions', 'config.yaml'),
    `redact:\n  allow:\n    - 'other'\n    - ${JSON.stringify(SECRET)}\n`,
  )
  for (const [path, text] of [
    ['conversations/one.jsonl', `{"said":${JSON.stringify(SECRET)}}\n`],
    ['runs/1/plan.txt', `plan: ${SECRET}\n`],
    [`journal/${id}/taken-0123456789ab-leak.md`, `not a document: ${SECRET}`],
    [`journal/${id}/handoffs/1.md`, `# Handoff\n\n    ${SECRET}\n`],
    ['index.db.set-aside-2025-01-01T00-00-00-000Z', `SQLite ${SECRET}`],
  ] as const) {
    execFileSync('mkdir', ['-p', dirname(join(root, '.sessions', path))])
    writeFileSync(join(root, '.sessions', path), text)
  }
  expect(filesWith(root, SECRET).length).toBeGreaterThan(12)
  const before = readLog(join(folder, 'log.jsonl')).records

  const purged = await within(root, (project) => project.purge({ text: SECRET }))

  expect(filesWith(root, SECRET)).toEqual([])
  expect(purged.remaining).toEqual([])
  expect(purged.files.map((file) => file.path)).toContain(
    join('.sessions', 'journal', id, 'log.jsonl'),
  )
  expect(purged.files.map((file) => file.path)).toContain(
    join('.sessions', 'journal', id, 'handoffs', '1.md'),
  )
  const { records, damage } = readLog(join(folder, 'log.jsonl'))
  expect(damage).toEqual([])
  const headOf = ({ id: entry, at, kind, by, once }: (typeof records)[number]) => ({
    entry,
    at,
    kind,
    by,
    once,
  })
  expect(records.slice(0, before.length).map(headOf)).toEqual(before.map(headOf))
  // Every command still works on what is left, the configuration included.
  const view = await within(root, (project) => project.view())
  expect(view.state.goal).toBe('find [purged] out')
  expect(view.state.discoveries.items[0]?.text).toBe('first line\nthen [purged] in the second')
  expect(readFileSync(documentOf(root), 'utf8')).toContain('because [purged] works')
})

test('leaves no byte of the secret in the cached state of a long log', async () => {
  const { root, folder } = await leakyProject()
  const steps = Array.from({ length: 1000 }, (_, n) => ({ progress: `Moved handler ${n}` }))
  await within(root, (project) => project.log({ entries: steps }))
  expect(readFileSync(join(folder, 'state.kept'), 'utf8')).toContain('quoted')
  await within(root, (project) => project.purge({ text: SECRET }))
  expect(filesWith(root, SECRET)).toEqual([])
})

test('leaves the log and its link as one file', async () => {
  const { root, log, link } = await leakyProject()
  await within(root, (project) => project.purge({ text: SECRET }))
  expect(readFileSync(link)).toEqual(readFileSync(log))
  appendFileSync(log, '\n')
  expect(readFileSync(link)).toEqual(readFileSync(log))
})

test('finds a multi-line secret that is indented, joined to one line or inside JSON', async () => {
  const secret = '-----BEGIN THING-----\nMIIabcdef0123456789\nqrstuvwxyz\n-----END THING-----'
  const { root } = await leakyProject(secret)
  expect(filesWith(root, 'MIIabcdef0123456789').length).toBeGreaterThan(5)
  await within(root, (project) => project.purge({ text: `${secret}\n` }))
  expect(filesWith(root, 'MIIabcdef0123456789')).toEqual([])
})

const asciiOnly = (json: string) =>
  json.replaceAll(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )

test.each([
  'say "hi there"',
  'C:\\temp\\new\\',
  'one line\n  and two',
  'Grüße aus Köln',
  'a \u{1f511} kept',
  '"é" \\ \n of all',
])('finds %j in JSON inside JSON, which stays valid', (text) => {
  const needle = new PurgeMatcher(text)
  const write = JSON.stringify
  const ascii = (value: unknown) => asciiOnly(write(value))
  for (const writers of [
    [write],
    [ascii],
    [write, write],
    [ascii, write],
    [write, ascii],
    [write, write, write],
    [ascii, write, write],
  ]) {
    const bytes = Buffer.from(
      writers.reduce<string>((held, writer) => writer({ held }), `a ${text} b`),
    )
    const wanted = writers.reduce<string>((held) => write({ held }), 'a [purged] b')
    expect(needle.isIn(bytes)).toBe(true)
    expect(needle.scrubBytes(bytes)).toEqual({ value: Buffer.from(wanted), count: 1 })
  }
})

test('removes a JSON-encoded secret from journals, views, conversations and large outputs', async () => {
  const { root } = await leakyProject()
  const outputs = [
    JSON.stringify({ out: SECRET }),
    asciiOnly(JSON.stringify({ out: JSON.stringify({ out: SECRET }) })),
  ]
  const sessions = join(root, '.sessions')
  const store = conversationStore(sessions, {})
  for (const [i, output] of outputs.entries()) {
    await within(root, (project) => project.log({ entries: [{ discovery: `it said ${output}` }] }))
    const message = { type: 'message', role: 'user', at: new Date().toISOString() } as const
    const long = `${output}\n${'x '.repeat(10_000)}`
    store.append('one', [
      { ...message, id: `short-${i}`, parts: [{ type: 'text', text: output }] },
      { ...message, id: `long-${i}`, parts: [{ type: 'text', text: long }] },
    ])
  }
  expect(filesWith(root, 'tr0ub4dor').length).toBeGreaterThan(6)
  const { isComplete } = await within(root, (project) => project.purge({ text: SECRET }))
  expect([filesWith(root, 'tr0ub4dor'), isComplete]).toEqual([[], true])
  expect([...store.read('one')]).toMatchObject([
    { id: 'short-0', parts: [{ text: '{"out":"[purged]"}' }] },
    { id: 'long-0' },
    { id: 'short-1', parts: [{ text: JSON.stringify({ out: '{"out":"[purged]"}' }) }] },
    { id: 'long-1' },
  ])
})

test('reports where the secret is on a dry run and changes nothing', async () => {
  const { root, log } = await leakyProject()
  const before = readFileSync(log)
  const holding = filesWith(root, SECRET)
  const purged = await within(root, (project) => project.purge({ text: SECRET, dryRun: true }))
  expect(purged.isDryRun).toBe(true)
  expect(purged.replacements).toBeGreaterThan(5)
  expect(readFileSync(log)).toEqual(before)
  expect(filesWith(root, SECRET)).toEqual(holding)
})

test('does not journal the text, and a second purge finds nothing', async () => {
  const { root, log } = await leakyProject()
  const before = readLog(log).records.length
  await within(root, (project) => project.purge({ text: SECRET }))
  expect(readLog(log).records.length).toBe(before)
  const bytes = readFileSync(log)
  const again = await within(root, (project) => project.purge({ text: SECRET }))
  expect(again.replacements).toBe(0)
  expect(readFileSync(log)).toEqual(bytes)
})

test('cleans an unabsorbed edit of the document and keeps the rest of it', async () => {
  const { root } = await leakyProject()
  const path = documentOf(root)
  const edited = readFileSync(path, 'utf8').replace(
    '- [ ] a step without it',
    `- [ ] a step with ${SECRET}`,
  )
  expect(edited).toContain(`- [ ] a step with ${SECRET}`)
  writeFileSync(path, edited)
  await within(root, (project) => project.purge({ text: SECRET }))
  expect(filesWith(root, SECRET)).toEqual([])
  const { state } = await within(root, (project) => project.view())
  expect(state.steps.items.map((step) => step.text)).toEqual(['a step with [purged]'])
})

test('reaches the same files from a linked worktree', async () => {
  const { root } = await leakyProject()
  const worktree = join(scratchFolder(), 'linked')
  git(root, 'worktree', 'add', '--quiet', worktree)
  await within(worktree, (project) => project.purge({ text: SECRET }))
  expect(filesWith(root, SECRET)).toEqual([])
})

test('renames a session and a task that were named after the secret', async () => {
  const root = repository()
  const secret = 'hunter2hunter2'
  await within(root, async (project) => {
    await project.init({ goal: `rotate ${secret} now` })
    await project.close({ how: 'completed' })
    await project.tasks.add({ title: `Replace ${secret}` })
    await project.purge({ text: secret })
  })
  expect(readdirSync(join(root, '.sessions', 'archive')).map((name) => name.slice(0, -10))).toEqual(
    ['rotate-purged-now'],
  )
  expect(readdirSync(join(root, '.tasks', 'active')).join()).toMatch(/^replace-purged-/)
  expect(filesWith(root, secret)).toEqual([])
})

test('removes the secret from damaged lines, even a torn part, and keeps the lines', async () => {
  const { root, log } = await leakyProject()
  appendFileSync(
    log,
    `\ngarbage ${SECRET} garbage\n{"v":1,"data":{"text":${JSON.stringify(SECRET)}}\n{"v":1,"text":"${SECRET.slice(0, 9)}`,
  )
  await within(root, (project) => project.purge({ text: SECRET }))
  expect(filesWith(root, SECRET)).toEqual([])
  expect(filesWith(root, SECRET.slice(0, 9))).toEqual([])
  const { damage } = readLog(log)
  expect(damage.map(({ preview }) => preview)).toEqual([
    'garbage [purged] garbage',
    String.raw`{\"v\":1,\"data\":{\"text\":\"[purged]\"}`,
    String.raw`{\"v\":1,\"text\":\"[purged]`,
  ])
})

test('cleans a session whose opening entry is unreadable', async () => {
  const { root, log, link } = await leakyProject()
  const first = readLog(log).bytes.toString('utf8').replace('session.opened', 'session.opxned')
  writeFileSync(log, first)
  expect(readFileSync(link, 'utf8')).toBe(first)
  await within(root, (project) => project.purge({ text: SECRET }))
  expect(filesWith(root, SECRET)).toEqual([])
})

test('renews the checksum of a record of a newer format', async () => {
  const { root, log } = await leakyProject()
  const record = encodeRecord({ id: 'x', at: '', kind: 'new', by: 'test', data: {} }).toString()
  const newer = `${record
    .replace('{"v":1', `{"v":9,"shape":${JSON.stringify(SECRET)}`)
    .trim()
    .slice(0, -18)}`
  const { crc32 } = await import('node:zlib')
  const seal = (body: string) =>
    `${body},"sum":"${crc32(Buffer.from(body)).toString(16).padStart(8, '0')}"}`
  appendFileSync(log, `\n${seal(newer)}\n`)
  expect(readLog(log).damage.map(({ reason }) => reason)).toEqual(['written by a newer format'])
  await within(root, (project) => project.purge({ text: SECRET }))
  expect(readLog(log).damage.map(({ reason }) => reason)).toEqual(['written by a newer format'])
  expect(filesWith(root, SECRET)).toEqual([])
})

test('leaves ids and commits that contain the text by chance', async () => {
  const root = repository()
  await within(root, async (project) => {
    await project.init({ name: 'chance', goal: 'g' })
    await project.log({ entries: [{ step: 'one' }, { done: 'one' }] })
    const { state } = await project.view()
    const piece = state.steps.items[0]!.id.slice(0, 8)
    const { remaining } = await project.purge({ text: piece })
    expect(remaining.length).toBeGreaterThan(0)
    const after = await project.view()
    expect(after.state.steps.items.map((step) => step.status)).toEqual(['done'])
  })
})

test('refuses a text that is too short or blank', async () => {
  const root = repository()
  for (const text of ['abc', '   ', ' a\n']) {
    const refused = within(root, (project) => project.purge({ text }))
    await expect(refused).rejects.toBeInstanceOf(StintError)
  }
})

test('names saved code that holds the secret, and drops it on request', async () => {
  const root = repository()
  const secret = 'sUp3rs3cr3tValue'
  await within(root, async (project) => {
    await project.init({ name: 'code', goal: 'g' })
    await project.checkpoint({ note: 'clean' })
    writeFileSync(join(root, 'env.txt'), `A=1\nTOKEN: ${secret}\n`)
    await project.checkpoint({ note: 'leaked' })
    unlinkSync(join(root, 'env.txt'))
    const refs = () =>
      git(root, 'for-each-ref', '--format=%(refname)', 'refs/stint').split('\n').filter(Boolean)
    expect(refs().length).toBe(2)

    const named = await project.purge({ text: secret })
    expect(named.checkpoints.map(({ files, isDropped }) => ({ files, isDropped }))).toEqual([
      { files: ['env.txt'], isDropped: false },
    ])
    expect(named).toMatchObject({
      isComplete: false,
      remainingCode: named.checkpoints.map(({ ref }) => ref),
    })
    expect(refs().length).toBe(2)

    const dropped = await project.purge({ text: secret, checkpoints: true })
    expect(dropped.checkpoints.map(({ isDropped }) => isDropped)).toEqual([true])
    expect(dropped).toMatchObject({ isComplete: true, remaining: [], remainingCode: [] })
    expect(refs().length).toBe(1)
    git(root, 'reflog', 'expire', '--expire=now', '--all')
    git(root, 'gc', '--quiet', '--prune=now')
    await expect(project.checkpoints.restore({ checkpoint: '2' })).rejects.toThrow(/no kept code/)
    await expect(project.checkpoints.restore({ checkpoint: '1' })).resolves.toBeDefined()
  })
})

test('exits with 1 and names --checkpoints while saved code holds the secret', async () => {
  const secret = 'sUp3rs3cr3tValue'
  const { cwd, stint } = terminal()
  await stint('init', '--name', 'code', '--goal', 'find it out')
  writeFileSync(join(cwd, 'env.txt'), `TOKEN: ${secret}\n`)
  await stint('checkpoint')
  expect((await stint('purge', secret, '--dry-run')).exitCode).toBe(0)
  const left = await stint('purge', secret)
  expect(left.exitCode).toBe(1)
  expect(left.stdout).toContain('--checkpoints')
  expect(left.stdout).not.toContain('Still there, as a part of ids')
  const json = await stint('purge', secret, '--json')
  expect(json.exitCode).toBe(1)
  expect(json.json()).toMatchObject({
    isComplete: false,
    remainingCode: [expect.stringMatching(/^refs\/stint\//)],
  })
  expect((await stint('purge', secret, '--checkpoints')).exitCode).toBe(0)
  expect((await stint('purge', secret, '--json')).json()).toMatchObject({
    isComplete: true,
    remaining: [],
    remainingCode: [],
  })
})

test('reports a dry run as complete only when there is nothing to purge', async () => {
  const { root } = await leakyProject()
  await within(root, async (project) => {
    expect(await project.purge({ text: SECRET, dryRun: true })).toMatchObject({ isComplete: false })
    expect(await project.purge({ text: 'nowhere to be found', dryRun: true })).toMatchObject({
      isComplete: true,
    })
    expect(await project.purge({ text: SECRET })).toMatchObject({ isComplete: true })
  })
})

test('finishes on the next run after a kill between replacing the log and its link', async () => {
  const { root, log, link } = await leakyProject()
  const late = {
    id: '01990000-0000-7000-8000-0000000000aa',
    at: '2025-01-01T00:00:00.000Z',
    kind: 'note.added',
    by: 'test',
  }
  const old = join(dirname(log), 'replaced-0123456789ab.jsonl')
  linkSync(log, old)
  const needle = new PurgeMatcher(SECRET)
  rewriteLog({ path: log }, needle, { dryRun: false })
  // As a kill leaves it: the link and the replaced-… name still point to the old file, which has one more entry.
  unlinkSync(link)
  writeFileSync(
    old,
    Buffer.concat([readFileSync(log), encodeRecord({ ...late, data: { text: `late ${SECRET}` } })]),
  )
  linkSync(old, link)
  await within(root, (project) => project.purge({ text: SECRET }))
  expect(filesWith(root, SECRET)).toEqual([])
  expect(readdirSync(dirname(log)).filter((name) => name.startsWith('replaced-'))).toEqual([])
  expect(readFileSync(link)).toEqual(readFileSync(log))
  expect(readLog(log).records.find(({ id }) => id === late.id)?.data).toEqual({
    text: 'late [purged]',
  })
})

test('finishes on the next run after a kill at any write', async () => {
  const { root, log } = await leakyProject()
  const before = readLog(log).records.length
  const purge = (killAt: number) =>
    spawnSync(process.execPath, ['--require', KILL_AT_WRITE, STINT, 'purge', '-'], {
      cwd: root,
      input: SECRET,
      env: { ...process.env, KILL_AT_WRITE: String(killAt) },
    })
  const signals: unknown[] = []
  for (let killAt = 1; signals.at(-1) !== null; killAt += 4) {
    signals.push(purge(killAt).signal)
    const { records, damage } = readLog(log)
    expect(damage).toEqual([])
    expect(records.length).toBe(before)
  }
  expect(signals.length).toBeGreaterThan(5)
  expect(filesWith(root, SECRET)).toEqual([])
})

test.each([{ linked: true }, { linked: false }])(
  'loses and duplicates nothing while eight processes append (second name: $linked)',
  async ({ linked }) => {
    const folder = scratchFolder()
    const path = join(folder, '.sessions', 'log.jsonl')
    const paths = linked ? { path, link: join(folder, '.git', 'link.jsonl') } : { path }
    new Log(paths).create([{ kind: 'session.opened', by: 'test', data: { name: 'many' } }])
    const program = join(folder, 'worker.mjs')
    await bundleProgram(
      fileURLToPath(new URL('append-entries.worker.ts', import.meta.url)),
      program,
    )
    const needle = new PurgeMatcher(SECRET)
    const enough = join(folder, 'enough')
    const writers = Promise.all(
      Array.from({ length: 8 }, async (_, number) => {
        const { stdout } = await run(process.execPath, [
          program,
          path,
          paths.link ?? '',
          `w${number}`,
          '150',
          SECRET,
          enough,
        ])
        return stdout.split('\n').filter((line) => line !== '')
      }),
    )
    let purges = 0
    while ((await Promise.race([writers, sleep(15)])) === undefined) {
      purges += rewriteLog(paths, needle, { dryRun: false }) > 0 ? 1 : 0
      if (purges > 3) writeFileSync(enough, '')
    }
    const acknowledged = (await writers).flat()
    while (rewriteLog(paths, needle, { dryRun: false }) > 0);

    const { records, damage, bytes } = readLog(path)
    expect(purges).toBeGreaterThan(3)
    expect(acknowledged.length).toBeGreaterThanOrEqual(8 * 150)
    expect(new Set(records.map(({ id }) => id))).toEqual(new Set([records[0]!.id, ...acknowledged]))
    expect(damage).toEqual([])
    expect(bytes.includes(JSON.stringify(SECRET).slice(1, -1))).toBe(false)
    if (paths.link !== undefined) expect(readFileSync(paths.link)).toEqual(bytes)
  },
)

const STINT = fileURLToPath(new URL('../../dist/stint.js', import.meta.url))

test('reads the secret from standard input and never prints it', async () => {
  const { root } = await leakyProject()
  const command = (args: readonly string[], input: string) =>
    spawnSync(process.execPath, [STINT, 'purge', ...args], { cwd: root, input, encoding: 'utf8' })
  const dryRun = command(['-', '--dry-run'], `${SECRET}\n`)
  expect(dryRun.status).toBe(0)
  expect(dryRun.stdout).toMatch(/^Found in \d+ places in \d+ files\./)
  const done = command(['-'], `${SECRET}\n`)
  expect(done.stderr + done.stdout).not.toContain(SECRET)
  expect(done.stdout).toMatch(/^Purged from \d+ places in \d+ files\./)
  expect(done.status).toBe(0)
  expect(filesWith(root, SECRET)).toEqual([])
  expect(command(['abc'], '').status).toBe(2)
  const json = JSON.parse(command(['-', '--json'], SECRET).stdout) as { replacements: number }
  expect(json.replacements).toBe(0)
})
