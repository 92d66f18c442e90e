import { join } from 'node:path'
import { readHookEvent } from '../../harness/registry.ts'
import { runAfterEvent } from '../../hook/after-event.ts'
import { serveWithHandlers } from '../../hook/serve-hook.ts'
import { onSessionEnd } from '../../hook/turn-end.ts'
import { refreshViews } from '../../project/store/refresh-views.ts'

export { writeStdout } from '../../journal/write-files.ts'

export async function serveEvent(input: string): Promise<string> {
  // A conversation's end has no background half, so its handler renders the document as well.
  if (readHookEvent(input)?.kind === 'sessionEnd')
    return serveWithHandlers(input, process.env, {
      sessionEnd: (context) => onSessionEnd(context, refreshViews),
    })
  await runAfterEvent(input, process.env, join(__dirname, 'stint.js'))
  return ''
}
