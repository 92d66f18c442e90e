// A delegate goes on when the command that began it is over: in a process of its own that belongs to no terminal.
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stintProgram } from '../../harness/process/stint-program.ts'
import { StintError } from '../../journal/errors.ts'
import { openForOutput } from '../../journal/files.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { runFolder } from '../../project/store/run-files.ts'
import type { Place } from '../../project/store/place.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { plainEnvironment } from '../attempt/agent-environment.ts'
import { readRun } from '../run-log.ts'
import { allDelegates, delegateNow } from './delegates.ts'
import { MAKING, inTurn, takingUp } from './in-turn.ts'
import { refuseTooMany } from './create-delegate.ts'
import { moveOn } from './work-delegate.ts'

const LOOK_MS = 50
const MOST_LOOKS = 600

/** What the process of a delegate says while it works. */
export function outputPath(place: Place, id: string): string {
  return join(runFolder(place, id), 'output.log')
}

/** Starts the process of a delegate, and waits until it has taken it up. */
export async function startInBackground(workspace: Workspace, id: string): Promise<void> {
  await inTurn(workspace.place, MAKING, async () => {
    const others = allDelegates(workspace.place).filter((one) => one.id !== id)
    refuseTooMany(others, workspace.config.delegates.most)
    await startProcess(workspace, id)
  })
}

async function startProcess(workspace: Workspace, id: string): Promise<void> {
  const { place, env } = workspace
  const { order } = delegateNow(place, id)
  const output = openForOutput(outputPath(place, id))
  const before = spellsOf(place, id)
  const child = spawn(process.execPath, [stintProgram(), 'delegate', 'work', id], {
    cwd: place.root,
    env: plainEnvironment(env),
    stdio: ['ignore', output, output],
    detached: true,
  })
  closeSync(output)
  let isOver = false
  child.once('exit', () => (isOver = true)).once('error', () => (isOver = true))
  child.unref()
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    if (spellsOf(place, id) > before) return
    if (isOver) break
    await sleep(LOOK_MS)
  }
  if (spellsOf(place, id) > before) return
  const because = 'its process did not begin'
  await inTurn(place, takingUp(id), async () => {
    if (!delegateNow(place, id).isBegun) await moveOn(workspace, id, 'interrupted', because)
  })
  const said =
    readOrUndefined(outputPath(place, id))
      ?.toString('utf8')
      .trim()
      .split('\n')
      .slice(-5)
      .join('\n') ?? ''
  throw new StintError(
    'DELEGATE_NOT_BEGUN',
    `the process of ${order.name} did not begin${said === '' ? '' : `: ${said}`}`,
    `stint delegate retry ${order.name} tries again`,
  )
}

function spellsOf(place: Place, id: string): number {
  return readRun(place, id).filter(({ kind }) => kind === 'run.resumed').length
}
