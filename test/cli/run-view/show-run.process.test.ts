import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bundleProgram } from '../../support/bundle.ts'
import { Screen } from '../../support/screen.ts'

const hasScript = spawnSync('script', ['--version']).status === 0
const folder = mkdtempSync(join(tmpdir(), 'stint-run-view-'))
const program = join(folder, 'show-run.mjs')

beforeAll(async () => {
  await bundleProgram(join(import.meta.dirname, 'show-run.worker.ts'), program)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(!hasScript)('on a real terminal', () => {
  function started(mode: string) {
    const line = `stty cols 80 rows 30; '${process.execPath}' '${program}' ${mode}`
    const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, TERM: 'xterm', TZ: 'UTC' }
    const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: folder, env })
    onTestFinished(() => void child.kill('SIGKILL'))
    const screen = new Screen(80, 30)
    let all = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      all += text
      // The prompt library uses escape sequences that the test screen does not know.
      if (mode !== 'asks') screen.write(text)
    })
    const printed = () => all
    const output = { isClosed: false }
    const exit = new Promise<number | null>((resolve) => child.on('close', resolve))
    // Closed, not exited: its last output may arrive after its exit.
    void exit.then(() => (output.isClosed = true))
    const until = async (isTrue: () => boolean) => {
      while (!isTrue() && !output.isClosed) await new Promise((resolve) => setTimeout(resolve, 20))
      expect(isTrue()).toBe(true)
    }
    return { child, screen, exit, until, printed }
  }

  test('Ctrl-C finishes the task, a second one stops, and the terminal is left clean', async () => {
    const { child, screen, exit, until } = started('waits')
    await until(() => screen.text().includes('── run 3f9c1a'))
    expect(screen.isCursorShown).toBe(false)
    child.stdin.write('\u0003')
    await until(() =>
      screen.text().includes('stop     finishing session-cookie · Ctrl-C again stops now'),
    )
    child.stdin.write('\u0003')
    expect(await exit).toBe(130)
    expect(screen.isCursorShown).toBe(true)
    const text = screen.text()
    expect(text).not.toContain('──')
    expect(text).toContain('✓ login-form')
    expect(text.split('\n').at(-1)).toBe('the report of 0199f0aa-7c3e-7b11-8a51-5e2d4c3f9c1a')
  })

  test.each([
    ['\r', 'it was allowed'],
    ['\u001B[B\r', 'it was refused'],
    ['\u0003', 'it was refused'],
  ])(
    'pauses the live view for a question, and after %j prints that %s',
    async (keys, answerText) => {
      const { child, exit, until, printed } = started('asks')
      await until(() => printed().includes('May the agent use Bash: rm -r build?'))
      await until(() => printed().includes('[ten steps later]'))
      expect(printed().split('May the agent use Bash').at(-1)).not.toContain('meanwhile')
      child.stdin.write(keys)
      await until(() => printed().includes(answerText))
      // Ctrl-C at a question interrupts the run.
      expect(printed().includes('finishing session-cookie')).toBe(keys === '\u0003')
      if (keys !== '\u0003') child.stdin.write('\u0003')
      await until(() => printed().includes('finishing session-cookie'))
      child.stdin.write('\u0003')
      expect(await exit).toBe(130)
    },
  )

  test('a crash restores the cursor and prints the error below the last frame', async () => {
    const { screen, exit, until } = started('breaks')
    await until(() => screen.text().includes('── run 3f9c1a'))
    expect(await exit).not.toBe(0)
    expect(screen.isCursorShown).toBe(true)
    expect(screen.text()).toMatch(/── run 3f9c1a[^]*Error: a defect/)
  })
})
