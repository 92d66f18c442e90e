import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findRepository } from '../../src/git/repository.ts'
import { git, newRepository, temporaryFolder, write } from './world.ts'

describe('finding a repository', () => {
  test('a folder inside a repository finds its root', () => {
    const root = newRepository({ 'deep/er/file.txt': 'x\n' })
    expect(findRepository(join(root, 'deep/er'))).toEqual({
      worktree: root,
      gitDir: join(root, '.git'),
      commonDir: join(root, '.git'),
      mainRoot: root,
      isLinked: false,
    })
  })

  test('a folder outside any repository, or a missing one, finds nothing', () => {
    const folder = temporaryFolder()
    expect(findRepository(folder)).toBeUndefined()
    expect(findRepository(join(folder, 'missing'))).toBeUndefined()
  })

  test('an empty folder named .git is skipped', () => {
    const root = newRepository({ 'sub/file.txt': 'x\n' })
    mkdirSync(join(root, 'sub/.git'))
    expect(findRepository(join(root, 'sub'))?.worktree).toBe(root)
  })

  test('a .git file that points nowhere is not a repository', () => {
    const folder = temporaryFolder()
    write(folder, '.git', 'gitdir: ../gone\n')
    expect(findRepository(folder)).toBeUndefined()
  })

  test('a linked worktree shares the main root and has its own git directory', () => {
    const root = newRepository()
    const linked = join(temporaryFolder(), 'linked tree é')
    git(root, 'worktree', 'add', '-q', '-b', 'side', linked)
    expect(findRepository(linked)).toEqual({
      worktree: linked,
      gitDir: join(root, '.git/worktrees/linked-tree-é'),
      commonDir: join(root, '.git'),
      mainRoot: root,
      isLinked: true,
    })
  })

  test('a linked worktree inside the main one is found before it', () => {
    const root = newRepository()
    git(root, 'worktree', 'add', '-q', '.worktrees/side')
    const found = findRepository(join(root, '.worktrees/side'))
    expect(found).toMatchObject({
      worktree: join(root, '.worktrees/side'),
      mainRoot: root,
      isLinked: true,
    })
  })

  test('a submodule is a project of its own, and so is a worktree linked to it', () => {
    const library = newRepository({ 'lib.txt': 'lib\n' })
    const root = newRepository()
    git(root, 'submodule', '--quiet', 'add', library, 'vendor/lib')
    const submodule = join(root, 'vendor/lib')
    expect(findRepository(submodule)).toEqual({
      worktree: submodule,
      gitDir: join(root, '.git/modules/vendor/lib'),
      commonDir: join(root, '.git/modules/vendor/lib'),
      mainRoot: submodule,
      isLinked: false,
    })
    const linked = join(temporaryFolder(), 'lib-side')
    git(submodule, 'worktree', 'add', '-q', linked)
    expect(findRepository(linked)).toMatchObject({
      worktree: linked,
      mainRoot: submodule,
      isLinked: true,
    })
  })

  test('core.worktree is found after git moved it to config.worktree', () => {
    const library = newRepository()
    const root = newRepository()
    git(root, 'submodule', '--quiet', 'add', library, 'lib')
    git(join(root, 'lib'), 'sparse-checkout', 'set', '--cone')
    const linked = join(temporaryFolder(), 'side')
    git(join(root, 'lib'), 'worktree', 'add', '-q', linked)
    expect(findRepository(linked)?.mainRoot).toBe(join(root, 'lib'))
  })

  test('a hidden bare repository has the folder around it as its root, from every worktree', () => {
    const source = newRepository()
    const project = join(temporaryFolder(), 'proj')
    mkdirSync(project)
    git(project, 'clone', '-q', '--bare', source, '.bare')
    write(project, '.git', 'gitdir: ./.bare\n')
    git(project, 'worktree', 'add', '-q', 'main')
    expect(findRepository(join(project, 'main'))).toMatchObject({
      worktree: join(project, 'main'),
      mainRoot: project,
      isLinked: true,
    })
    expect(findRepository(project)).toMatchObject({
      worktree: project,
      mainRoot: project,
      isLinked: false,
    })
    expect(findRepository(join(project, '.bare/objects'))?.mainRoot).toBe(project)
  })

  test('a bare repository with its own name is its own root', () => {
    const source = newRepository()
    const folder = temporaryFolder()
    git(folder, 'clone', '-q', '--bare', source, 'proj.git')
    git(join(folder, 'proj.git'), 'worktree', 'add', '-q', join(folder, 'tree'))
    expect(findRepository(join(folder, 'tree'))).toMatchObject({
      worktree: join(folder, 'tree'),
      mainRoot: join(folder, 'proj.git'),
    })
    expect(findRepository(join(folder, 'proj.git'))).toMatchObject({
      mainRoot: join(folder, 'proj.git'),
    })
  })

  test('a git directory kept elsewhere leaves the root where the files are', () => {
    const folder = temporaryFolder()
    git(folder, 'init', '-q', '--separate-git-dir', 'kept.git', 'tree')
    expect(findRepository(join(folder, 'tree'))).toMatchObject({
      worktree: join(folder, 'tree'),
      gitDir: join(folder, 'kept.git'),
      mainRoot: join(folder, 'tree'),
    })
  })

  test('a symbolic link finds the same repository as its target', () => {
    const root = newRepository({ 'sub/file.txt': 'x\n' })
    const link = join(temporaryFolder(), 'link')
    symlinkSync(join(root, 'sub'), link)
    expect(findRepository(link)).toEqual(findRepository(root))
  })

  test('a folder inside .git finds the worktree it belongs to', () => {
    const root = newRepository()
    const linked = join(temporaryFolder(), 'side')
    git(root, 'worktree', 'add', '-q', linked)
    expect(findRepository(join(root, '.git/hooks'))).toEqual(findRepository(root))
    expect(findRepository(join(root, '.git/worktrees/side'))).toEqual(findRepository(linked))
  })

  test('a new repository without commits is found', () => {
    const root = temporaryFolder()
    git(root, 'init', '-q')
    expect(findRepository(root)?.worktree).toBe(root)
    rmSync(join(root, '.git/HEAD'))
    expect(findRepository(root)).toBeUndefined()
  })
})
