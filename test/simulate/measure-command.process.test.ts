import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'measuring is ended by %s without a trace, and nothing is kept of it',
  async (told) => {
    const { cwd, env, folder } = terminal({ git: false })
    const temporary = join(folder, 'tmp')
    mkdirSync(temporary)
    const child = spawn(process.execPath, [program, 'simulate', '--measure'], {
      cwd,
      env: { ...env, TMPDIR: temporary },
    })
    let said = ''
    child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()))
    const ended = once(child, 'exit')
    const worlds = () =>
      readdirSync(temporary)
        .flatMap((lab) => readdirSync(join(temporary, lab)))
        .filter((name) => name.startsWith('world-'))
    while (worlds().length === 0 && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill(told)
    expect(await ended).toEqual([130, null])
    expect(said).toContain('the measuring was interrupted; nothing was kept of it')
    expect(readdirSync(temporary)).toEqual([])
    expect(existsSync(join(env.STINT_STATE_HOME!, 'measured.json'))).toBe(false)
  },
)
