import { type ChildProcess, spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { program } from '../support/cli.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { PromptWorld } from './prompt-world.ts'

/** The command line in its own process, and its output so far. */
function stint(world: PromptWorld, ...args: string[]) {
  const script = world.project.path('.sessions', 'script.json')
  const line = [program, 'prompt', '--harness', 'rehearsal', '--script', script, '--json', ...args]
  const child: ChildProcess = spawn(process.execPath, line, {
    cwd: world.project.root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const printed = { text: '' }
  child.stdout!.on('data', (data: Buffer) => (printed.text += data.toString()))
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => resolve(code)),
  )
  const saw = (word: string) => expect.poll(() => printed.text).toContain(word)
  return { child, printed, ended, saw }
}

test('a killed prompt leaves nothing running, and the next one continues its conversation', async () => {
  const world = new PromptWorld()
  world.script([{ say: 'I begin.' }, { run: 'sleep 600' }], [{ say: 'On.' }])
  const killed = stint(world, 'Take long')
  await killed.saw('sleep 600')
  const { prompt } = JSON.parse(killed.printed.text.split('\n')[0]!) as { prompt: string }
  killed.child.kill('SIGKILL')
  await killed.ended
  expect((await world.prompt('Write the summary')).said).toBe('On.')
  await expectNoneLeft(`STINT_PROMPT=${prompt}`)
  expect(world.of('prompt.started')).toMatchObject([{ isNewSession: false, isFresh: false }])
  expect(world.project.entries('request.made')).toMatchObject([
    { text: 'Take long' },
    { text: 'Write the summary' },
  ])
})

test('Ctrl-C interrupts the agent gracefully, and a second one ends everything at once', async () => {
  const world = new PromptWorld()
  world.script([{ run: 'sleep 600' }])
  const once = stint(world, 'Take long')
  await once.saw('sleep 600')
  once.child.kill('SIGINT')
  expect(await once.ended).toBe(130)
  expect(once.printed.text).toContain('"how":"interrupted"')

  world.script([{ run: 'trap "" TERM; sleep 600 & wait; sleep 600' }])
  const twice = stint(world, 'Take long again')
  await twice.saw('trap')
  // Signals sent before the first is handled count as one, so they are sent until it ends.
  const again = setInterval(() => twice.child.kill('SIGINT'), 20)
  onTestFinished(() => clearInterval(again))
  expect(await twice.ended).toBe(130)
  const { prompt } = JSON.parse(twice.printed.text.split('\n')[0]!) as { prompt: string }
  await expectNoneLeft(`STINT_PROMPT=${prompt}`)
})
