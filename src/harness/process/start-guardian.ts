import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { StintError } from '../../journal/errors.ts'
import { type Ended, GUARDIAN, type Order } from './guardian.ts'

export interface Guardian {
  readonly child: ChildProcess
  readonly pid: number
  /** Says that everything is to be ended within so many milliseconds. */
  end(grace: number): void
  /** What it said last; undefined when it was killed before it could. Resolves when it is gone. */
  readonly ended: Promise<Ended | undefined>
}

/** The environment carries the marks of those around us too, so that whoever ends them finds what we started. */
export function startGuardian(order: Order, env: NodeJS.ProcessEnv): Guardian {
  const child = spawn(process.execPath, ['-e', GUARDIAN], {
    // Its own surroundings are bare: options for Node that are meant for the agent must not reach it.
    env,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  const gone = new Promise<void>((resolve) =>
    child.once('exit', () => resolve()).once('error', () => resolve()),
  )
  if (child.pid === undefined)
    throw new StintError(
      'PROCESS_NOT_STARTED',
      'no process can be started',
      'end some programs, or raise the limit of processes',
    )
  const line = child.stdio[3] as Socket
  // What is written to one that is gone is lost, and its end is told by `ended`.
  line.on('error', () => undefined)
  const said = textOf(line)
  line.write(`${JSON.stringify(order)}\n`)
  return {
    child,
    pid: child.pid,
    end: (grace) => void line.write(`${JSON.stringify({ grace })}\n`),
    ended: gone.then(() => said).then(lastWord),
  }
}

function textOf(line: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    line.setEncoding('utf8')
    line.on('data', (piece: string) => (text += piece))
    line.once('close', () => resolve(text))
  })
}

function lastWord(text: string): Ended | undefined {
  // Killed in the middle of it, it has not said it.
  return text.endsWith('\n') ? (JSON.parse(text) as Ended) : undefined
}
