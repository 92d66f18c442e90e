import type { MessagePort } from 'node:worker_threads'
import type { FileHistory } from '../../harness/contract/history.ts'
import { loadHistory } from '../../harness/registry.ts'
import { StintError } from '../../journal/errors.ts'
import { Workspace } from '../store/workspace.ts'
import { importFile } from './import-file.ts'
import { type ThreadJob, type ThreadNews, problemOf } from './thread-messages.ts'
import { ImportTarget } from './target.ts'
import { defined } from '../../text/defined.ts'

export function serveFiles(port: MessagePort): void {
  const targets = new Map<string, ImportTarget>()
  const tell = (news: ThreadNews) => port.postMessage(news)
  const serve = async (job: ThreadJob): Promise<void> => {
    const { number, harness, file, head, isAnew, project, isDryRun } = job
    try {
      const target = targets.get(project) ?? new ImportTarget(new Workspace(project))
      targets.set(project, target)
      const read = (bytes: number) => tell({ type: 'read', number, bytes })
      const outcome = importFile(
        { harness: (await loadHistory(harness)) as FileHistory, file, head, target, isAnew },
        { isDryRun, read },
      )
      tell({ type: 'done', number, ...defined({ outcome }) })
    } catch (error) {
      const problem = problemOf(error)
      if (problem !== undefined) return tell({ type: 'unread', number, problem })
      const { message, stack } = error as Error
      if (!(error instanceof StintError))
        return tell({ type: 'failed', number, message: stack ?? message })
      const { code, hint } = error
      tell({ type: 'failed', number, message, code, ...defined({ hint }) })
    }
  }
  // In sequence: two files may belong to one conversation.
  let last = Promise.resolve()
  port.on('message', (job: ThreadJob) => {
    last = last.then(() => serve(job))
  })
}
