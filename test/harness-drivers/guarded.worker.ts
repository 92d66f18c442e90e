// Starts a guarded program, prints its tag, and waits to be killed.
import { spawnGuarded } from '../../src/harness/process/spawn-guarded.ts'

const [command, ...args] = process.argv.slice(2)
const guarded = spawnGuarded(command!, args, { cwd: process.cwd(), env: process.env })
for await (const line of guarded.lines) console.log(JSON.stringify({ tag: guarded.tag, line }))
