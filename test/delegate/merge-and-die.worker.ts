// Merges delegates as `stint merge` does, and dies behind a step of one of them.
import { startInBackground } from '../../src/run/delegate/work-delegate.ts'
import { findDelegate } from '../../src/run/delegate/delegates.ts'
import { mergeInTurn } from '../../src/run/merge/queue.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { thisProcess } from '../../src/run/loop/start-run.ts'

const [step, ...names] = process.argv.slice(2)
const workspace = new Workspace(process.cwd(), { env: process.env })
await mergeInTurn(
  {
    workspace,
    options: { sendBack: (id) => startInBackground(workspace, id) },
    emit: (kind, data) => {
      if (kind === 'merge.ended') process.stdout.write(`${JSON.stringify(data)}\n`)
    },
    merger: thisProcess(),
    isStopped: new AbortController().signal,
    at: async (made) => {
      if (made === step) process.kill(process.pid, 'SIGKILL')
    },
    said: new Set(),
  },
  names.map((name) => findDelegate(workspace.place, name).id),
)
