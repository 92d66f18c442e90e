// Merges delegates, or recovers their merges, in a process that can be killed.
import { delegateNow } from '../../../src/run/delegate/delegates.ts'
import { mergeDelegates } from '../../../src/run/merge/queue.ts'
import { recoverMerge } from '../../../src/run/merge/finish.ts'
import { Workspace } from '../../../src/project/store/workspace.ts'

const [root, verb, ...ids] = process.argv.slice(2) as [string, 'merge' | 'recover', ...string[]]
const workspace = new Workspace(root, { env: process.env })
if (verb === 'merge') {
  const outcomes = await mergeDelegates(workspace, ids, {}, (event) => {
    if (event.kind === 'message') process.stdout.write(`${event.data.text}\n`)
  })
  for (const { how } of outcomes) process.stdout.write(`${how}\n`)
} else
  for (const id of ids)
    process.stdout.write(
      `${(await recoverMerge(workspace, delegateNow(workspace.place, id))).status}\n`,
    )
workspace.close()
