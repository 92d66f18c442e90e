import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

const hook = join(dirname(program), 'hook.cjs')

describe.skipIf(process.platform !== 'linux')('a waiting agent', () => {
  test('shows a desktop notification that names its session', async () => {
    const world = project()
    await world.stint('init', '--name', 'fix-login')
    const tools = join(world.folder, 'tools')
    const told = join(world.folder, 'told')
    mkdirSync(tools)
    writeFileSync(join(tools, 'notify-send'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${told}'\n`)
    chmodSync(join(tools, 'notify-send'), 0o755)
    const input = {
      session_id: 'c-1',
      cwd: world.cwd,
      hook_event_name: 'Notification',
      message: 'Claude needs your permission',
    }
    const env = { ...world.env, PATH: `${tools}:${process.env.PATH}` }
    const { status, stdout } = spawnSync(process.execPath, [hook], {
      env,
      input: JSON.stringify(input),
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
    expect(readFileSync(told, 'utf8')).toBe(
      '--app-name=Stint\n--\nStint: fix-login\nClaude needs your permission\n',
    )
  })
})
