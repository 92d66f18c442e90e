import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { knownProjects, rememberProject } from '../../src/index/projects.ts'
import { temporaryFolder } from './world.ts'

let home: string
beforeEach(() => {
  home = temporaryFolder()
  vi.stubEnv('STINT_STATE_HOME', join(home, 'state'))
})
afterEach(() => vi.unstubAllEnvs())

describe('the projects of this machine', () => {
  test('are none at first, and then each remembered root once', () => {
    expect(knownProjects()).toEqual([])
    const [a, b] = [join(home, 'a'), join(home, 'b')]
    mkdirSync(a)
    mkdirSync(b)
    expect([a, b, a].map(rememberProject)).toEqual([true, true, true])
    expect(knownProjects()).toEqual([a, b])
    expect(readFileSync(join(home, 'state', 'projects'), 'utf8')).toBe(`\n${a}\n\n${b}\n`)
  })

  test('leave out a missing root, and include it when it is back', () => {
    const root = join(home, 'on-a-disk')
    mkdirSync(root)
    rememberProject(root)
    rmSync(root, { recursive: true })
    expect(knownProjects()).toEqual([])
    mkdirSync(root)
    expect(knownProjects()).toEqual([root])
  })

  test('survive a torn line', () => {
    const root = join(home, 'whole')
    mkdirSync(root)
    rememberProject(root)
    appendFileSync(join(home, 'state', 'projects'), `\n${home}/hal`)
    const other = join(home, 'other')
    mkdirSync(other)
    rememberProject(other)
    expect(knownProjects()).toEqual([root, other])
  })

  test('exclude a path that is relative or contains a line break', () => {
    expect(rememberProject('relative')).toBe(false)
    expect(rememberProject('/a\n/b')).toBe(false)
    expect(knownProjects()).toEqual([])
  })

  test('are not remembered where nothing can be written, and the command does not fail', () => {
    writeFileSync(join(home, 'state'), 'a file where a folder is wanted')
    expect(rememberProject(home)).toBe(false)
    expect(knownProjects()).toEqual([])
  })

  test('are stored in the XDG folder', () => {
    vi.stubEnv('STINT_STATE_HOME', '')
    vi.stubEnv('XDG_STATE_HOME', join(home, 'xdg'))
    rememberProject(home)
    expect(readFileSync(join(home, 'xdg', 'stint', 'projects'), 'utf8')).toContain(home)
    vi.stubEnv('XDG_STATE_HOME', 'relative')
    vi.stubEnv('HOME', join(home, 'house'))
    rememberProject(home)
    expect(
      readFileSync(join(home, 'house', '.local', 'state', 'stint', 'projects'), 'utf8'),
    ).toContain(home)
  })
})
