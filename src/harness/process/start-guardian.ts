import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { StintError } from '../../journal/errors.ts'
import { type Ended, GUARDIAN, type Order } from './guardian.ts'

export interface Guardian {
  readonly child: ChildProcess
  readonly pid: number
  end(grace: number): void
  readonly ended: Promise<Ended | undefined>
}

/** `env` carries the marks of outer guardians, so that they find what we start. */
export function startGuardian(order: Order, env: NodeJS.ProcessEnv): Guardian {
  const child = spawn(process.execPath, ['-e', GUARDIAN], {
    // Node options meant for the agent must not reach the guardian.
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
  // Writes to one that is gone are lost; `ended` reports its end.
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
  // It was killed in the middle of its report.
  return text.endsWith('\n') ? (JSON.parse(text) as Ended) : undefined
}
