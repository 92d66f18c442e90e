// A merge lands settings only with the user's agreement, and what Stint wrote itself without it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mintId } from '../../../src/journal/ids.ts'
import { type JournalRecord, encodeRecord } from '../../../src/journal/record.ts'
import { findProtectedChanges } from '../../../src/run/proof/protected-paths.ts'
import { type Delegate, DelegateWorld } from '../delegate-world.ts'

/** A delegate that has committed whatever `change` does in its worktree. */
function delegateThat(
  world: DelegateWorld,
  change: (tree: string) => void,
  name = 'own',
): Delegate {
  const delegate = world.delegate(name, { status: 'running' })
  change(delegate.tree)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: delegate.tree })
  git('add', '--all', '--force')
  git('commit', '-qm', 'own work')
  delegate.move({ to: 'ready', commit: delegate.tip() })
  return delegate
}

/** The checkout holds these files untracked, so git would not overwrite them. */
const DRY = { isDryRun: true }

const writing =
  (path: string, text = 'x\n') =>
  (tree: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }

describe('a merge waits for the user where the work changes', () => {
  test.each([
    '.sessions/config.yaml',
    '.sessions/workflows/evil.yaml',
    '.tasks/active/evil.md',
    '.claude/settings.json',
    '.codex/config.toml',
    '.gemini/settings.json',
    '.opencode/config.json',
    '.mcp.json',
    '.gitattributes',
    '.gitmodules',
    '.githooks/pre-commit',
    '.husky/post-checkout',
    'packages/api/.claude/settings.json',
    '.CLAUDE/settings.json',
    '.claude\u200d/settings.json',
    '.ｃlaude/settings.json',
    '.claude./settings.json',
  ])('%s', async (path) => {
    const world = new DelegateWorld()
    const before = world.commitOf('main')
    const one = delegateThat(world, writing(path))
    const outcome = await world.mergeOne(one)
    expect(outcome).toMatchObject({ how: 'waiting' })
    expect(outcome.because).toContain(path)
    expect(world.commitOf('main')).toBe(before)
    expect(one.state()).toMatchObject({ status: 'ready' })
    expect(await world.mergeOne(one, { allowProtected: [path] })).toMatchObject({ how: 'merged' })
  })

  test.each<[string, string, (tree: string) => void]>([
    [
      'a link into such a folder',
      'innocent',
      (tree) => symlinkSync('.claude', join(tree, 'innocent')),
    ],
    [
      'a link from a subfolder',
      'docs/innocent',
      (tree) => {
        mkdirSync(join(tree, 'docs'))
        symlinkSync('../.sessions/config.yaml', join(tree, 'docs', 'innocent'))
      },
    ],
    [
      'a submodule',
      'lib',
      (tree) => {
        const head = execFileSync('git', ['rev-parse', 'HEAD'], {
          cwd: tree,
          encoding: 'utf8',
        }).trim()
        execFileSync('git', ['update-index', '--add', '--cacheinfo', `160000,${head},lib`], {
          cwd: tree,
        })
        mkdirSync(join(tree, 'lib'))
      },
    ],
  ])('%s', async (_name, path, change) => {
    const world = new DelegateWorld()
    const outcome = await world.mergeOne(delegateThat(world, change))
    expect(outcome).toMatchObject({ how: 'waiting' })
    expect(outcome.because).toContain(path)
  })

  test.each<[string, (tree: string) => void]>([
    ['a removal', (tree) => rmSync(join(tree, '.claude', 'settings.json'))],
    [
      'a rename away',
      (tree) => renameSync(join(tree, '.claude', 'settings.json'), join(tree, 'other.json')),
    ],
    [
      'a link in its place',
      (tree) => {
        rmSync(join(tree, '.claude', 'settings.json'))
        symlinkSync('../own.txt', join(tree, '.claude', 'settings.json'))
      },
    ],
  ])('%s of a file that was there', async (_name, change) => {
    const world = new DelegateWorld()
    world.project.commit('settings', { '.claude/settings.json': '{}\n' })
    const outcome = await world.mergeOne(delegateThat(world, change))
    expect(outcome).toMatchObject({ how: 'waiting' })
    expect(outcome.because).toContain('.claude/settings.json')
  })

  test('the configured folder of hooks', async () => {
    const world = new DelegateWorld()
    world.project.git('config', 'core.hooksPath', 'scripts/hooks')
    const outcome = await world.mergeOne(delegateThat(world, writing('scripts/hooks/pre-commit')))
    expect(outcome).toMatchObject({ how: 'waiting' })
  })

  test('something else than what the user agreed to', async () => {
    const world = new DelegateWorld()
    const one = delegateThat(world, (tree) => {
      writing('.mcp.json')(tree)
      writing('.gitattributes')(tree)
    })
    const outcome = await world.mergeOne(one, { allowProtected: ['.mcp.json'] })
    expect(outcome).toMatchObject({ how: 'waiting' })
    expect(outcome.next).toBe('stint merge own --allow-protected .gitattributes')
  })

  test('also in a dry run', async () => {
    const world = new DelegateWorld()
    const one = delegateThat(world, writing('.mcp.json'))
    expect(await world.mergeOne(one, { isDryRun: true })).toMatchObject({ how: 'waiting' })
  })
})

describe('a merge does not ask about', () => {
  test.each(['AGENTS.md', 'CLAUDE.md', 'src/hooks/use-it.ts', 'docs/sessions.md', '.gitignore'])(
    '%s',
    async (path) => {
      const world = new DelegateWorld()
      expect(await world.mergeOne(delegateThat(world, writing(path)))).toMatchObject({
        how: 'merged',
      })
    },
  )

  test('settings that a branch took over unchanged from the user, since its base', async () => {
    const world = new DelegateWorld()
    const from = world.commitOf('main')
    const one = world.delegate('own')
    const known = world.project.commit('settings of the user', { '.claude/settings.json': '{}\n' })
    execFileSync('git', ['merge', '-q', '--no-edit', 'main'], { cwd: one.tree })
    const find = (options = {}) =>
      findProtectedChanges(world.workspace(), { from, to: one.tip() }, options)
    expect(await find()).toEqual(['.claude/settings.json'])
    expect(await find({ known })).toEqual([])
  })

  test('settings that it merged from its target', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('own')
    world.project.commit('settings of the user', { '.claude/settings.json': '{}\n' })
    execFileSync('git', ['merge', '-q', '--no-edit', 'main'], { cwd: one.tree })
    one.move({ to: 'ready', commit: one.tip() })
    expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
  })

  test('a task file that Stint rendered, but about one that was edited', async () => {
    const world = new DelegateWorld()
    await world.project.run((project) => project.tasks.add({ title: 'Write it' }))
    const [file = ''] = world.project.names('.tasks', 'active')
    const text = world.project.read('.tasks', 'active', file)
    const path = `.tasks/active/${file}`
    const rendered = delegateThat(world, writing(path, text))
    expect(await world.mergeOne(rendered, DRY)).toMatchObject({ how: 'would merge' })
    const edited = text.replace('Write it', 'Write that')
    const other = delegateThat(world, writing(path, edited), 'other')
    expect(await world.mergeOne(other, DRY)).toMatchObject({ how: 'waiting' })
  })

  test('records of a journal that this machine holds too, but about any other', async () => {
    const world = new DelegateWorld()
    await world.project.run((project) => project.init({ name: 'work' }))
    const id = world.project.sessionId()
    const path = `.sessions/journal/${id}/log.jsonl`
    const log = world.project.read('.sessions', 'journal', id, 'log.jsonl')
    const own = delegateThat(world, writing(path, log))
    expect(await world.mergeOne(own, DRY)).toMatchObject({ how: 'would merge' })
    const forged = delegateThat(world, writing(path, `${log}${foreign(log)}`), 'other')
    expect(await world.mergeOne(forged, DRY)).toMatchObject({ how: 'waiting' })
  })
})

/** A valid record that no log here holds. */
function foreign(log: string): string {
  const record = JSON.parse(log.trim().split('\n')[0]!) as JournalRecord
  const { id, at, kind, by, data } = record
  return encodeRecord({ id: mintId(id), at, kind, by, data }).toString('utf8')
}
