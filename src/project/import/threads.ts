import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { stintProgram } from '../../harness/process/find-program.ts'
import { StintError } from '../../journal/errors.ts'
import type { ThreadJob, ThreadNews } from './thread-messages.ts'

export type ThreadOutcome = Extract<ThreadNews, { type: 'done' | 'unread' }>

/** Undefined when running from sources. */
export function threadProgram(): string | undefined {
  try {
    const path = join(dirname(stintProgram()), 'import-files.js')
    return existsSync(path) ? path : undefined
  } catch (error) {
    if (error instanceof StintError) return undefined
    throw error
  }
}

export interface InThreads {
  readonly read: (bytes: number) => void
  readonly done: (outcome: ThreadOutcome) => void
  readonly doHere: (number: number) => void
}

/**
 * This thread takes part. A group goes into one conversation, so one thread does it in order.
 * Rejects with the first failure that is not about one file.
 */
export async function inThreads(
  program: string,
  count: number,
  groups: readonly (readonly ThreadJob[])[],
  { read, done, doHere }: InThreads,
): Promise<void> {
  const waiting = groups.values()
  const work = async () => {
    // Options of this process would apply to the thread.
    const worker = new Worker(program, { execArgv: [] })
    try {
      // One shared iterator: each worker takes the next group.
      for (const group of waiting) for (const job of group) done(await one(worker, job, read))
    } finally {
      await worker.terminate()
    }
  }
  const workHere = async () => {
    for (const group of waiting) {
      for (const { number } of group) {
        doHere(number)
        // Lets messages of the other threads in.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  }
  await Promise.all([
    ...Array.from({ length: Math.min(count, groups.length) - 1 }, work),
    workHere(),
  ])
}

function one(
  worker: Worker,
  job: ThreadJob,
  read: (bytes: number) => void,
): Promise<ThreadOutcome> {
  return new Promise((resolve, reject) => {
    const told = (news: ThreadNews) => {
      if (news.type === 'read') return read(news.bytes)
      worker.off('message', told).off('error', fail).off('exit', end)
      if (news.type === 'failed') reject(failureOf(news))
      else resolve(news)
    }
    const fail = (error: unknown) => reject(error as Error)
    const end = (code: number) => reject(new Error(`a thread of the import ended with ${code}`))
    worker.on('message', told).on('error', fail).on('exit', end)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, and no window
    worker.postMessage(job)
  })
}

function failureOf({ message, code, hint }: Extract<ThreadNews, { type: 'failed' }>): Error {
  return code === undefined ? new Error(message) : new StintError(code, message, hint)
}
