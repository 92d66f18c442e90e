// Each probe runs in a repository where its claim holds and in one where it does not.
import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findRepository } from '../../src/git/repository.ts'
import {
  readWorkingTree,
  probeBranch,
  probeFile,
  probeSavedCode,
  probeProgram,
  probeReachable,
  probeTask,
  probeTestRun,
  probeWorkingTree,
  verdictTag,
} from '../../src/context/handoff/probes.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'
import { type World, gitProject, plainProject } from '../support/project.ts'
import { scratchFolder } from '../support/scratch.ts'
import { Story } from '../support/worlds.ts'

const around = (world: World, budgetMs?: number) =>
  readWorkingTree(world.root, findRepository(world.root), budgetMs)
const head = (world: World) => world.git('rev-parse', 'HEAD').trim()

describe('a branch is checked out', () => {
  test('is verified when it is', () => {
    const world = gitProject()
    expect(verdictTag(probeBranch(around(world), 'main'))).toBe(
      `verified (branch, ${head(world).slice(0, 7)})`,
    )
  })

  test('is unverified when another branch is checked out', () => {
    const world = gitProject()
    world.git('switch', '--quiet', '--create', 'other')
    expect(verdictTag(probeBranch(around(world), 'main'))).toBe('unverified (other is checked out)')
  })

  test('is unverified on a detached HEAD or for an unknown branch', () => {
    const world = gitProject()
    world.git('switch', '--quiet', '--detach')
    expect(verdictTag(probeBranch(around(world), 'main'))).toBe(
      'unverified (no branch is checked out)',
    )
    expect(verdictTag(probeBranch(around(world), 'gone'))).toBe(
      'unverified (there is no such branch)',
    )
  })

  test('is verified on a branch without a commit', () => {
    const world = gitProject()
    world.git('switch', '--quiet', '--orphan', 'fresh')
    expect(verdictTag(probeBranch(around(world), 'fresh'))).toBe('verified (branch)')
  })
})

describe('HEAD contains a commit', () => {
  test('is verified for a commit in its history', () => {
    const world = gitProject()
    const first = head(world)
    const second = world.commit('second')
    expect(verdictTag(probeReachable(around(world), first))).toBe(
      `verified (history, ${second.slice(0, 7)})`,
    )
  })

  test('is unverified for a commit on another branch, amended away, or missing', () => {
    const world = gitProject()
    world.git('switch', '--quiet', '--create', 'side')
    const side = world.commit('on the side')
    world.git('switch', '--quiet', 'main')
    expect(verdictTag(probeReachable(around(world), side))).toBe(
      'unverified (it is not in the history of HEAD)',
    )
    const lost = world.commit('to be amended')
    world.git('commit', '--quiet', '--amend', '--allow-empty', '-m', 'amended')
    expect(probeReachable(around(world), lost).isVerified).toBe(false)
    expect(verdictTag(probeReachable(around(world), 'c'.repeat(40)))).toBe(
      'unverified (this repository does not have it)',
    )
    expect(verdictTag(probeReachable(around(world), '--all'))).toBe(
      'unverified (could not be checked: it is no name of a commit)',
    )
  })
})

describe('uncommitted files', () => {
  test("are none in a clean tree, ignoring Stint's own files", () => {
    const world = gitProject()
    world.write('.sessions/x', 'x')
    world.write('.tasks/active/x.md', 'x')
    const now = around(world)
    expect(now.dirty).toEqual([])
    expect(verdictTag(probeWorkingTree(now))).toBe(
      `verified (working tree, ${head(world).slice(0, 7)})`,
    )
  })

  test('are every changed and every new file', () => {
    const world = gitProject()
    world.write('a.txt', 'two\n')
    world.write('new.txt', 'x')
    const now = around(world)
    expect(now.dirty?.toSorted()).toEqual(['a.txt', 'new.txt'])
    expect(probeWorkingTree(now).isVerified).toBe(true)
  })
})

describe('a file exists', () => {
  test('is verified for a file, a folder, and a file named with a line', () => {
    const world = gitProject()
    world.write('src/a.ts', 'x')
    for (const path of [
      'src/a.ts',
      'src',
      'src/a.ts:245',
      'src/a.ts:2-5',
      world.path('src/a.ts'),
    ]) {
      expect(probeFile(around(world), path).isVerified).toBe(true)
    }
  })

  test('is unverified for a missing file and for one outside the project', () => {
    const world = gitProject()
    expect(verdictTag(probeFile(around(world), 'src/a.ts'))).toBe(
      'unverified (there is no such file)',
    )
    for (const path of ['/etc/passwd', '../outside', '', 'a\0b']) {
      expect(verdictTag(probeFile(around(world), path))).toBe(
        'unverified (could not be checked: it lies outside of the project)',
      )
    }
  })
})

describe('a command last passed and nothing changed since', () => {
  /** Entries of a session whose tests ran after every file was written. */
  const ran = (passed: boolean, more: (story: Story) => void = () => {}): readonly RawEntry[] => {
    const story = new Story()
    story.add('test.ran', { command: 'npm test', passed })
    const run = story.entries.at(-1)!
    story.entries[story.entries.length - 1] = {
      ...run,
      at: new Date(Date.now() + 60_000).toISOString(),
    }
    more(story)
    return story.entries
  }
  /** The same run, before every file was written. */
  const before = (entries: readonly RawEntry[]) =>
    entries.map((entry) => ({ ...entry, at: '2020-01-01T00:00:00.000Z' }))

  test('is verified when true, with or without uncommitted files', () => {
    const world = gitProject()
    expect(verdictTag(probeTestRun(around(world), 'npm test', ran(true)))).toBe(
      `verified (test run, ${head(world).slice(0, 7)})`,
    )
    world.write('a.txt', 'two\n')
    expect(probeTestRun(around(world), 'npm test', ran(true), ['a.txt']).isVerified).toBe(true)
  })

  test('is unverified when it failed or never ran', () => {
    const world = gitProject()
    expect(verdictTag(probeTestRun(around(world), 'npm test', ran(false)))).toContain(
      'it failed when it last ran',
    )
    const both = [...ran(true), ...ran(false).slice(1)]
    expect(probeTestRun(around(world), 'npm test', both).isVerified).toBe(false)
    expect(verdictTag(probeTestRun(around(world), 'make test', ran(true)))).toBe(
      'unverified (no run of it is recorded)',
    )
  })

  test('is unverified when HEAD moved since', () => {
    const world = gitProject()
    expect(verdictTag(probeTestRun(around(world), 'npm test', before(ran(true))))).toContain(
      'HEAD changed since; run it again',
    )
  })

  // Everything else is older than the run, so that each change is tested by itself.
  const worldBefore = (run: Date) => {
    const world = gitProject()
    const entries = ran(true).map((entry) =>
      entry.kind === 'test.ran' ? { ...entry, at: run.toISOString() } : entry,
    )
    return { world, entries }
  }
  const settle = () => new Promise((done) => setTimeout(done, 60))

  test('is unverified when an uncommitted file changed since, even with an old mtime', async () => {
    const { world, entries } = worldBefore(new Date())
    world.write('a.txt', 'two\n')
    await settle()
    const run = entries.map((entry) => ({ ...entry, at: new Date().toISOString() }))
    expect(probeTestRun(around(world), 'npm test', run).isVerified).toBe(true)
    await settle()
    world.write('a.txt', 'three\n')
    utimesSync(world.path('a.txt'), new Date(0), new Date(0))
    expect(verdictTag(probeTestRun(around(world), 'npm test', run))).toBe(
      'unverified (a.txt changed since; run it again)',
    )
  })

  test('is unverified when a file was added or removed since', async () => {
    const { world, entries } = worldBefore(new Date())
    mkdirSync(world.path('src'))
    world.commit('more', { 'src/b.txt': 'x' })
    await settle()
    const run = entries.map((entry) => ({ ...entry, at: new Date().toISOString() }))
    await settle()
    rmSync(world.path('src/b.txt'))
    expect(verdictTag(probeTestRun(around(world), 'npm test', run))).toBe(
      'unverified (src/b.txt changed since; run it again)',
    )
    world.git('restore', 'src/b.txt')
    expect(probeTestRun(around(world), 'npm test', run, ['src/b.txt']).isVerified).toBe(false)
  })

  test('is unverified when something was staged or unstaged since', async () => {
    const { world, entries } = worldBefore(new Date())
    world.write('a.txt', 'two\n')
    await settle()
    const run = entries.map((entry) => ({ ...entry, at: new Date().toISOString() }))
    await settle()
    world.git('restore', 'a.txt')
    expect(verdictTag(probeTestRun(around(world), 'npm test', run))).toBe(
      'unverified (the index changed since; run it again)',
    )
  })

  test('is unverified when the journal has an edit or a commit since', () => {
    const world = gitProject()
    for (const change of [
      (story: Story) => story.add('file.changed', { path: 'elsewhere.ts' }),
      (story: Story) => story.add('commit.made', { commit: 'abc', subject: 'x' }),
    ]) {
      expect(probeTestRun(around(world), 'npm test', ran(true, change)).isVerified).toBe(false)
    }
  })

  test('is unverified outside git, and without a reflog', () => {
    expect(probeTestRun(around(plainProject()), 'npm test', ran(true)).isVerified).toBe(false)
    const world = gitProject()
    rmSync(world.path('.git', 'logs'), { recursive: true })
    expect(verdictTag(probeTestRun(around(world), 'npm test', ran(true)))).toContain(
      'could not be checked',
    )
  })
})

describe("a checkpoint's code is saved", () => {
  const REF = 'refs/stint/session/checkpoint'

  test('is verified when its ref points to the commit', () => {
    const world = gitProject()
    const commit = head(world)
    world.git('update-ref', REF, commit)
    expect(probeSavedCode(around(world), { commit, ref: REF }).isVerified).toBe(true)
  })

  test("is unverified when the ref is missing, points elsewhere, or is not Stint's", () => {
    const world = gitProject()
    const commit = head(world)
    expect(verdictTag(probeSavedCode(around(world), { commit, ref: REF }))).toBe(
      'unverified (this repository does not have it)',
    )
    const second = world.commit('second')
    world.git('update-ref', REF, second)
    expect(verdictTag(probeSavedCode(around(world), { commit, ref: REF }))).toBe(
      `unverified (the name means ${second.slice(0, 7)} now)`,
    )
    expect(
      probeSavedCode(around(world), { commit: second, ref: 'refs/heads/main' }).isVerified,
    ).toBe(false)
  })
})

describe('a task has a status', () => {
  test('is verified when the backlog agrees', () => {
    expect(verdictTag(probeTask('in_progress', 'in_progress'))).toBe('verified (backlog)')
  })

  test('is unverified when the backlog differs or lacks the task', () => {
    expect(verdictTag(probeTask('in_progress', 'completed'))).toBe(
      'unverified (the backlog says completed)',
    )
    expect(probeTask('in_progress', undefined).isVerified).toBe(false)
  })
})

describe("a command's programs exist", () => {
  test('is verified for one on the PATH, in the project, and after cd', () => {
    const world = plainProject()
    const bin = scratchFolder()
    writeFileSync(join(bin, 'tool'), '#!/bin/sh\n')
    chmodSync(join(bin, 'tool'), 0o755)
    world.write('run.sh', '#!/bin/sh\n')
    chmodSync(world.path('run.sh'), 0o755)
    for (const command of ['tool --all', './run.sh', 'cd src && CI=1 tool', `${bin}/tool | tool`]) {
      expect(verdictTag(probeProgram(around(world), command, bin))).toBe('verified (program)')
    }
  })

  test('is unverified when one is missing, not executable, or unknown', () => {
    const world = plainProject()
    const bin = scratchFolder()
    writeFileSync(join(bin, 'text'), 'no program')
    symlinkSync('nowhere', join(bin, 'dangling'))
    expect(verdictTag(probeProgram(around(world), 'tool', bin))).toBe(
      'unverified (tool is not on this machine)',
    )
    for (const command of ['text', 'dangling', 'cd src', '', './gone.sh']) {
      expect(probeProgram(around(world), command, bin).isVerified).toBe(false)
    }
  })
})

describe('a check that git cannot answer', () => {
  test('is never verified outside a repository', () => {
    const now = around(plainProject())
    const verdicts = [
      probeBranch(now, 'main'),
      probeReachable(now, 'c'.repeat(40)),
      probeWorkingTree(now),
      probeSavedCode(now, { commit: 'c', ref: 'refs/stint/x' }),
    ]
    for (const verdict of verdicts)
      expect(verdictTag(verdict)).toContain('could not be checked: there is no git repository')
  })

  test('times out, and git runs only once', () => {
    const world = gitProject()
    const bin = scratchFolder()
    writeFileSync(join(bin, 'git'), '#!/bin/sh\nexec sleep 60\n')
    chmodSync(join(bin, 'git'), 0o755)
    const { PATH } = process.env
    process.env.PATH = `${bin}:${PATH}`
    onTestFinished(() => {
      process.env.PATH = PATH
    })
    const now = around(world, 300)
    expect(now.dirty).toBeUndefined()
    const verdicts = [
      probeWorkingTree(now),
      probeReachable(now, now.head.commit!),
      probeBranch(now, 'other'),
    ]
    for (const verdict of verdicts)
      expect(verdictTag(verdict)).toMatch(
        /^unverified \(could not be checked: git \S+ failed: it took too long/,
      )
    expect(probeTestRun(now, 'npm test', []).isVerified).toBe(false)
  })
})
