import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type MessagePort, Worker } from 'node:worker_threads'
import { findStintProgram } from '../../harness/process/find-program.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'
import type { FileHistory, HistoryFile, HistoryHead } from '../../harness/contract/history.ts'
import { type FileOutcome, importFile } from './import-file.ts'
import { isBusy, isCorrupt, isUnwritable } from '../../index/sqlite.ts'
import { loadHistory } from '../../harness/registry.ts'
import { Workspace } from '../store/workspace.ts'
import { ImportTarget } from './import-target.ts'
import { defined } from '../../text/defined.ts'

type ThreadOutcome = Extract<ThreadMessage, { type: 'done' | 'unread' }>

/** Undefined when running from sources. */
export function threadProgram(): string | undefined {
  try {
    const path = join(dirname(findStintProgram()), 'import-files.js')
    return existsSync(path) ? path : undefined
  } catch (error) {
    if (error instanceof StintError) return undefined
    throw error
  }
}

interface ThreadCallbacks {
  readonly read: (bytes: number) => void
  readonly done: (outcome: ThreadOutcome) => void
  readonly importHere: (number: number) => void
}

/**
 * This thread works too. A group belongs to one conversation, so one thread imports it in order.
 * Rejects with the first failure that is not about one file.
 */
export async function importInThreads(
  program: string,
  count: number,
  groups: readonly (readonly ThreadJob[])[],
  { read, done, importHere: doHere }: ThreadCallbacks,
): Promise<void> {
  const waiting = groups.values()
  const work = async () => {
    // Options of this process would apply to the thread.
    const worker = new Worker(program, { execArgv: [] })
    try {
      // One shared iterator: each worker takes the next group.
      for (const group of waiting) for (const job of group) done(await runJob(worker, job, read))
    } finally {
      await worker.terminate()
    }
  }
  const workHere = async () => {
    for (const group of waiting) {
      for (const { number } of group) {
        doHere(number)
        // Lets messages of other threads arrive.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  }
  await Promise.all([
    ...Array.from({ length: Math.min(count, groups.length) - 1 }, work),
    workHere(),
  ])
}

function runJob(
  worker: Worker,
  job: ThreadJob,
  read: (bytes: number) => void,
): Promise<ThreadOutcome> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: ThreadMessage) => {
      if (message.type === 'read') return read(message.bytes)
      worker.off('message', onMessage).off('error', fail).off('exit', end)
      if (message.type === 'failed') reject(errorFrom(message))
      else resolve(message)
    }
    const fail = (error: unknown) => reject(error as Error)
    const end = (code: number) => reject(new Error(`a thread of the import ended with ${code}`))
    worker.on('message', onMessage).on('error', fail).on('exit', end)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, and no window
    worker.postMessage(job)
  })
}

function errorFrom({ message, code, hint }: Extract<ThreadMessage, { type: 'failed' }>) {
  return code === undefined ? new Error(message) : new StintError(code, message, hint)
}

export interface ThreadJob {
  readonly number: number
  readonly harness: string
  readonly file: HistoryFile
  readonly head: HistoryHead
  readonly isFromStart: boolean
  readonly project: string
  readonly isDryRun: boolean
}

type ThreadMessage =
  | { readonly type: 'read'; readonly number: number; readonly bytes: number }
  /** No outcome when the file is gone. */
  | { readonly type: 'done'; readonly number: number; readonly outcome?: FileOutcome }
  | { readonly type: 'unread'; readonly number: number; readonly problem: string }
  /** Ends the import. */
  | {
      readonly type: 'failed'
      readonly number: number
      readonly message: string
      readonly code?: string
      readonly hint?: string
    }

/** Undefined for errors that are not the history's fault. */
export function importProblem(error: unknown): string | undefined {
  if (isBusy(error)) return 'its harness is writing to it; import again later'
  if (isCorrupt(error)) return 'it is damaged'
  // A failed write of ours concerns every file.
  if (error instanceof StintError) return undefined
  const isOfDatabase =
    isUnwritable(error) || /no such (?:table|column)/.test(String((error as Error).message))
  return isOfDatabase || errnoOf(error) !== undefined ? (error as Error).message : undefined
}

export function serveImportJobs(port: MessagePort): void {
  const targets = new Map<string, ImportTarget>()
  const post = (message: ThreadMessage) => port.postMessage(message)
  const runJob = async (job: ThreadJob) => {
    const { number, harness, file, head, isFromStart, project, isDryRun } = job
    try {
      const target = targets.get(project) ?? new ImportTarget(new Workspace(project))
      targets.set(project, target)
      const read = (bytes: number) => post({ type: 'read', number, bytes })
      const outcome = importFile(
        { harness: (await loadHistory(harness)) as FileHistory, file, head, target, isFromStart },
        { isDryRun, read },
      )
      post({ type: 'done', number, ...defined({ outcome }) })
    } catch (error) {
      const problem = importProblem(error)
      if (problem !== undefined) return post({ type: 'unread', number, problem })
      const { message, stack } = error as Error
      if (!(error instanceof StintError))
        return post({ type: 'failed', number, message: stack ?? message })
      const { code, hint } = error
      post({ type: 'failed', number, message, code, ...defined({ hint }) })
    }
  }
  // In sequence: two files may belong to one conversation.
  let last = Promise.resolve()
  port.on('message', (job: ThreadJob) => {
    last = last.then(() => runJob(job))
  })
}
