import { redaction } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { RunEvent } from '../events.ts'
import { redactDeep } from '../../text/redact.ts'
import { workDelegate } from './work-delegate.ts'

/** What `stint delegate work` does: works until it is ready or has failed, ends at once when it is told to, and tells what happens. */
export async function runDelegateProcess(
  workspace: Workspace,
  id: string,
  tell: (event: RunEvent) => void,
): Promise<void> {
  const secrets = redaction(workspace.config)
  const handle = await workDelegate(workspace, id, {}, (event) =>
    tell(redactDeep(event, secrets).value),
  )
  const stop = () => handle.stop('now')
  // The terminal it was begun in may be closed; it does not belong to it.
  const ignore = () => {}
  process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', ignore)
  try {
    await handle.ended
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop).off('SIGHUP', ignore)
  }
}
