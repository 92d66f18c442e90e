import { spawnGuarded } from '../../harness/process/spawn-guarded.ts'

export interface VerifyResult {
  readonly command: string
  /** Absent when it did not end by itself. */
  readonly exit?: number
  readonly passed: boolean
  /** How it ended, behind the command: `ended with 1`, `took longer than 20 min`. */
  readonly ending: string
  /** The last of what it printed. */
  readonly output: string
  readonly seconds: number
  readonly isStopped: boolean
}

const KEPT_CHARACTERS = 6000

/** Runs a verify command in a tree. Nothing that it starts is left behind. */
export async function runVerify(
  command: string,
  {
    tree,
    verifyMs,
    env,
    isStopped,
  }: { tree: string; verifyMs: number; env: NodeJS.ProcessEnv; isStopped: AbortSignal },
): Promise<VerifyResult> {
  const startedAt = Date.now()
  const child = spawnGuarded('/bin/sh', ['-c', 'exec 2>&1\n' + command], { cwd: tree, env })
  child.stdin.end()
  let isLate = false
  const end = () => void child.end(1000)
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, verifyMs)
  isStopped.addEventListener('abort', end, { once: true })
  if (isStopped.aborted) end()
  const tail: string[] = []
  let length = 0
  try {
    for await (const line of child.lines) {
      tail.push(line)
      length += line.length + 1
      while (length > KEPT_CHARACTERS && tail.length > 1) length -= tail.shift()!.length + 1
    }
    const { code, signal } = await child.exited
    const ending = isLate
      ? `took longer than ${Math.round(verifyMs / 60_000)} min`
      : code === null
        ? `was ended by ${signal ?? 'a signal'}`
        : `ended with ${code}`
    return {
      command,
      ...(code === null || isLate ? {} : { exit: code }),
      passed: code === 0 && !isLate && !isStopped.aborted,
      ending,
      output: tail.join('\n').slice(-KEPT_CHARACTERS),
      seconds: (Date.now() - startedAt) / 1000,
      isStopped: isStopped.aborted,
    }
  } finally {
    clearTimeout(timer)
    isStopped.removeEventListener('abort', end)
    await child.end()
  }
}
