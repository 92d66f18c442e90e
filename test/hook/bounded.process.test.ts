import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROBE_EVENT } from '../../src/harness/setup/hook-command.ts'
import { PatternTimeout, runWithTimeout } from '../../src/project/conversation/run-with-timeout.ts'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

const hook = join(dirname(program), 'hook.cjs')

/** Far longer than a hook takes, far shorter than a hang. */
const LIMIT = 150_000

function runHook(
  world: ReturnType<typeof project>,
  name: string,
  fields: object,
  env: NodeJS.ProcessEnv = {},
) {
  const { status, signal } = spawnSync(process.execPath, [hook], {
    cwd: world.cwd,
    env: { ...world.env, ...env },
    input: JSON.stringify({ session_id: 'c-1', cwd: world.cwd, hook_event_name: name, ...fields }),
    timeout: LIMIT,
  })
  return { status, signal }
}

const SUCCESS = { status: 0, signal: null }
const ENDLESS = '(\\w+\\s?)+;'
const PROMPT = 'please have a look at the handlers of the login page and move them somewhere else'

async function withPattern(pattern: string) {
  const world = project()
  await world.stint('init', '--name', 'there')
  writeFileSync(world.path('.sessions', 'config.yaml'), `redact:\n  patterns: ['${pattern}']\n`)
  return world
}

describe('a user pattern that never finishes', () => {
  test('is stopped at its timeout', () => {
    expect(() => runWithTimeout(() => new RegExp(ENDLESS).test(PROMPT), 50)).toThrow(PatternTimeout)
    expect(runWithTimeout(() => 'done', LIMIT)).toBe('done')
    expect(() => runWithTimeout(() => JSON.parse('{'), LIMIT)).toThrow(SyntaxError)
  })

  test('records nothing, and doctor says why', async () => {
    const world = await withPattern(ENDLESS)
    const edit = {
      tool_name: 'Edit',
      tool_input: { file_path: world.path(PROMPT) },
      tool_response: {},
    }
    expect(runHook(world, 'PostToolUse', edit)).toEqual(SUCCESS)
    expect(JSON.stringify(world.entries())).not.toContain('login page')
    expect(world.hookErrors()).toContain('takes too long')
  })

  test('leaves its line out of the transcript copy, and copies the others', async () => {
    const world = await withPattern(ENDLESS)
    const agent = world.agent()
    agent.answers(PROMPT)
    agent.answers('short')
    const fields = {
      session_id: agent.conversation,
      transcript_path: agent.transcript,
      reason: 'other',
    }
    expect(runHook(world, 'SessionEnd', fields)).toEqual(SUCCESS)
    const copy = readFileSync(
      world.path('.sessions', 'conversations', `${agent.conversation}.jsonl`),
      'utf8',
    )
    expect(copy).not.toContain('login page')
    expect(copy).toContain('takes too long')
    expect(copy).toContain('short')
  })

  test('does no harm to text it finishes on', async () => {
    const world = await withPattern('log[a-z]+ page')
    expect(runHook(world, 'Stop', { last_assistant_message: PROMPT })).toEqual(SUCCESS)
    expect(JSON.stringify(world.entries())).toContain('[redacted:custom]')
    expect(world.hookErrors()).toBe('')
  })
})

describe('a hook does not wait', () => {
  test('for a git that hangs', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const bin = join(world.folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'git'), '#!/bin/sh\nexec sleep 987\n', { mode: 0o755 })
    // As in a repository whose refs are not files.
    writeFileSync(world.path('.git', 'HEAD'), 'ref: refs/heads/.invalid\n')
    const env = { PATH: `${bin}:${process.env.PATH}` }
    expect(runHook(world, 'SessionStart', { source: 'startup' }, env)).toEqual(SUCCESS)
  })

  test('for a client that does not read the response', async () => {
    const world = project()
    const pipe = join(world.folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    expect(() => {
      for (;;) writeSync(fd, Buffer.alloc(4096))
    }).toThrow('EAGAIN')
    // Through a shell, because Node makes the output of a child blocking.
    const child = spawn('/bin/sh', ['-c', `exec "${process.execPath}" "${hook}" >&3`], {
      cwd: world.cwd,
      env: world.env,
      stdio: ['pipe', 'ignore', 'ignore', fd],
      timeout: LIMIT,
    })
    child.stdin!.end(
      JSON.stringify({ session_id: 'c-1', cwd: world.cwd, hook_event_name: PROBE_EVENT }),
    )
    const ended = await new Promise((resolve) =>
      child.once('exit', (status, signal) => resolve({ status, signal })),
    )
    closeSync(fd)
    expect(ended).toEqual(SUCCESS)
  })
})
