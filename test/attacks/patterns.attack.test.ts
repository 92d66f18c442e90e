// A pattern under redact.patterns that tries every way to divide a text.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'

const TEXT = 'please have a look at the handlers of the login page and move them somewhere else'

test.each([
  ['log', '--progress', TEXT],
  ['checkpoint', '--note', TEXT],
  ['task', 'add', TEXT],
  ['close', '--abandon', '--reason', TEXT],
])('stint %s ends with an error that names the setting, and records nothing', (...args) => {
  const { cwd, env } = terminal()
  const stint = (...words: string[]) =>
    spawnSync(process.execPath, [program, ...words], { cwd, env, encoding: 'utf8' })
  stint('init', '--name', 'there')
  writeFileSync(join(cwd, '.sessions', 'config.yaml'), "redact:\n  patterns: ['(\\w+\\s?)+;']\n")
  const ran = stint(...args)
  expect(ran.status).toBe(1)
  expect(ran.stderr).toContain('a pattern of redact.patterns in config.yaml takes too long')
  const [session] = readdirSync(join(cwd, '.sessions', 'journal'))
  const log = readFileSync(join(cwd, '.sessions', 'journal', session!, 'log.jsonl'), 'utf8')
  expect(log).not.toContain('login page')
})

test.each(['[^]', '.*', '\\S+', '[^]*', '.', '(?:a|Hello world)'])(
  'a pattern that leaves nothing of any text is an error that names it: %s',
  (pattern) => {
    const { cwd, env } = terminal()
    const stint = (...words: string[]) =>
      spawnSync(process.execPath, [program, ...words], { cwd, env, encoding: 'utf8' })
    stint('init', '--name', 'there')
    const settings = { redact: { patterns: [pattern] } }
    writeFileSync(join(cwd, '.sessions', 'config.yaml'), JSON.stringify(settings))
    const ran = stint('log', '--progress', TEXT)
    expect(ran.status).toBe(1)
    expect(ran.stderr).toContain(`"${pattern}" matches all of any text`)
  },
)
