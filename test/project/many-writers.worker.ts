// One of many processes that append to the same session. Its clock goes back an hour half-way.
import { writeSync } from 'node:fs'
import { openProject } from '../../src/core.ts'

const [folder, name, count] = process.argv.slice(2) as [string, string, string]
const HOUR = 3_600_000
const now = Date.now
const project = openProject(folder)
const session = await project.session('many')
for (let written = 0; written < Number(count); written += 1) {
  if (written === Number(count) / 2) Date.now = () => now() - HOUR
  const [entry] = session.append([{ progress: `${name}/${written}` }])
  writeSync(1, `ack ${entry!.id}\n`)
}
session.close()
project.dispose()
