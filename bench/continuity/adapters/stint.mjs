// Stint as this checkout builds it, set up as its README says.
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'dist', 'stint.js')
/** The facts take turns: an agent records all kinds of entries. */
const FLAGS = ['--decision', '--discovery', '--note', '--key', '--gotcha', '--progress']

export default {
  name: 'stint',
  missing: () => (existsSync(PROGRAM) ? undefined : 'run `npm run build` first'),
  prepare(world) {
    const stint = join(world.bin, 'stint')
    writeFileSync(stint, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`)
    chmodSync(stint, 0o755)
    world.run('stint', 'setup', 'claude')
  },
  record(world, facts) {
    for (const [index, { statement }] of facts.entries())
      world.run('stint', 'log', FLAGS[index % FLAGS.length], statement)
  },
  handoff(world) {
    world.run('stint', 'handoff', 'create')
  },
}
