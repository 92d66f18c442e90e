// Merges delegates, or recovers their merges, in a process that can be killed.
import { readDelegate } from '../../../src/run/delegate/delegates.ts'
import { runMergeQueue } from '../../../src/run/merge/merge-queue.ts'
import { recoverMerge } from '../../../src/run/merge/reconcile.ts'
import { Workspace } from '../../../src/project/store/workspace.ts'

const [root, verb, ...ids] = process.argv.slice(2) as [string, 'merge' | 'recover', ...string[]]
const workspace = new Workspace(root, { env: process.env })
if (verb === 'merge') {
  const outcomes = await runMergeQueue(workspace, ids, {}, (event) => {
    if (event.kind === 'message') process.stdout.write(`${event.data.text}\n`)
  })
  for (const { how } of outcomes) process.stdout.write(`${how}\n`)
} else
  for (const id of ids)
    process.stdout.write(
      `${(await recoverMerge(workspace, readDelegate(workspace.paths, id))).status}\n`,
    )
workspace.close()
