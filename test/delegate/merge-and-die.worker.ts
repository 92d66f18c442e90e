// Merges delegates as `stint merge` does, and dies after a given step.
import { startInBackground } from '../../src/run/delegate/start-delegate.ts'
import { findDelegate } from '../../src/run/delegate/delegates.ts'
import { mergeWithContext } from '../../src/run/merge/merge-queue.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { thisProcess } from '../../src/run/loop/start-run.ts'

const [step, ...names] = process.argv.slice(2)
const workspace = new Workspace(process.cwd(), { env: process.env })
await mergeWithContext(
  {
    workspace,
    options: { sendBack: (id) => startInBackground(workspace, id) },
    emit: (kind, data) => {
      if (kind === 'merge.ended') process.stdout.write(`${JSON.stringify(data)}\n`)
    },
    merger: thisProcess(),
    isStopped: new AbortController().signal,
    afterStep: async (made) => {
      if (made === step) process.kill(process.pid, 'SIGKILL')
    },
    emittedMessages: new Set(),
  },
  names.map((name) => findDelegate(workspace.paths, name).id),
)
