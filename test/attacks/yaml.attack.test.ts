// YAML that comes with a clone unfolds without end, nests deeper than the stack, or has more keys than can be compared.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'

const BOMB = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 9 }, (_, n) => {
    const alias = `*a${n}`
    return `a${n + 1}: &a${n + 1} [${Array(9).fill(alias).join(', ')}]`
  }),
].join('\n')

const HOSTILE = {
  'a bomb of aliases': BOMB,
  'brackets deeper than the stack': `a: ${'['.repeat(50_000)}`,
  'maps deeper than the stack': `a: ${'{a: '.repeat(15_000)}`,
  'a million keys': Array.from({ length: 1_000_000 }, (_, n) => `k${n}:`).join('\n'),
}

function clone(path: string, text: string) {
  const { cwd, env } = terminal()
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
  return (...args: string[]) => {
    const options = { cwd, env, encoding: 'utf8', timeout: 60_000 } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], options)
    return { status, output: `${stdout}${stderr}` }
  }
}

test.each(Object.entries(HOSTILE))('config.yaml with %s is refused with the reason', (_, yaml) => {
  const stint = clone('.sessions/config.yaml', yaml)
  const ran = stint('init', '--name', 'x', '--json')
  expect(ran.status).toBe(1)
  expect(ran.output).toContain('CONFIG_INVALID')
  expect(ran.output).toMatch(/too often|too deep|more than 64 KB/)
  expect(stint('doctor')).toMatchObject({
    status: 1,
    output: expect.stringContaining('config.yaml cannot be used'),
  })
})

// The other kinds were refused here before.
const MANY_KEYS = HOSTILE['a million keys']

test('a task file with a million keys is quarantined with the reason', () => {
  const stint = clone('.tasks/active/x.md', `---\n${MANY_KEYS}\n---\n# X\n`)
  const ran = stint('task', 'list')
  expect(ran.status).toBe(0)
  expect(ran.output).toMatch(/more than 64 KB.*set aside/)
})

test('a template with a million keys is refused with the reason', () => {
  const stint = clone('.sessions/workflows/x.yaml', MANY_KEYS)
  stint('trust', '--yes')
  const ran = stint('workflow', 'init', 'w', 'work', '--template', 'x', '--json')
  expect(ran.status).toBe(1)
  expect(ran.output).toContain('TEMPLATE_INVALID')
})
