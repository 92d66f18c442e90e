import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findProgram } from '../../src/harness/process/find-program.ts'
import { gitProject } from '../support/project.ts'
import { scratchFolder } from '../support/scratch.ts'

function program(path: string, text = 'echo 1.2.3'): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}

test('a program is found by name only outside the project, for any order of the PATH', () => {
  const { root } = gitProject()
  const folder = scratchFolder()
  const installed = program(join(folder, 'bin', 'agent'))
  program(join(root, 'node_modules', '.bin', 'agent'))
  program(join(root, 'sub', 'agent'))
  symlinkSync(join(root, 'sub'), join(folder, 'link'))
  const entries = ['.', '', 'sub', 'node_modules/.bin', join(root, 'node_modules', '.bin'), root]
  const PATH = [...entries, join(folder, 'link'), '/no/such/folder', join(folder, 'bin')].join(':')
  for (const cwd of [root, join(root, 'sub')])
    expect(findProgram('agent', { PATH }, cwd)).toBe(installed)
  expect(findProgram('agent', { PATH: entries.join(':') }, root)).toBeUndefined()
  // A path is the user's own choice.
  expect(findProgram('sub/agent', { PATH }, root)).toBe(join(root, 'sub', 'agent'))
})

test('a home folder under version control does not hide its own programs', () => {
  const { root } = gitProject()
  const installed = program(join(root, '.local', 'bin', 'agent'))
  const before = process.env.HOME
  process.env.HOME = root
  try {
    expect(findProgram('agent', { PATH: dirname(installed) }, root)).toBe(installed)
  } finally {
    process.env.HOME = before
  }
})
