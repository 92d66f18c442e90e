// Runs what a user does through the library, and acknowledges every entry that the library reports as saved.
import { writeSync } from 'node:fs'
import { StintError } from '../../src/journal/errors.ts'
import { type Project, openProject } from '../../src/core.ts'
import { makeWorlds } from './make-worlds.ts'
import { MAKE } from './world-maker.ts'

const [first, ...others] = process.argv.slice(2)
// Not awaited: a bundle with a top-level await is split into many more files, and each takes time to load.
void (first === MAKE
  ? makeWorlds((world) => perform(world, others))
  : perform(process.cwd(), [first!, ...others]))

async function perform(folder: string, doings: readonly string[]): Promise<void> {
  const project = openProject(folder, { say: (line) => process.stderr.write(`${line}\n`) })
  try {
    for (const doing of doings) {
      const reading = await ACTIONS(project)[doing]!()
      for (const entry of reading.entries) writeSync(1, `ack ${entry.id}\n`)
    }
  } catch (error) {
    // Where no entry was at stake, a full disk is reported by its system error.
    const isExpected = error instanceof StintError || (error instanceof Error && 'syscall' in error)
    if (!isExpected) throw error
    process.stderr.write(`${error.name}: ${error.message}\n`)
    process.exitCode = 3
  } finally {
    project.dispose()
  }
}

function ACTIONS(
  project: Project,
): Record<string, () => Promise<{ entries: readonly { id: string }[] }>> {
  return {
    init: async () => (await project.init({ name: 'first', goal: 'Be there' })).reading,
    log: async () =>
      (await project.log({ entries: [{ step: 'One' }, { progress: 'Halfway' }, { key: 'Kept' }] }))
        .reading,
    checkpoint: () => project.checkpoint({ note: 'Now' }),
    handoff: async () => ({ entries: [(await project.handoffs.create({ draft: true })).handoff] }),
    close: () => project.close({ how: 'completed' }),
    // The process afterwards, without faults: continues with whatever is there.
    on: async () => {
      const [row] = await project.list({})
      if (row === undefined) await project.init({ name: 'again', goal: 'Be there' })
      else if (row.status === 'completed') await project.reopen({ session: row.id })
      return (await project.log({ entries: [{ progress: 'And on' }] })).reading
    },
  }
}
