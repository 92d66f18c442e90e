// One of many processes that append to the same session until its folder was removed often enough. Its clock goes back an hour halfway.
import { existsSync, writeSync } from 'node:fs'
import { openProject } from '../../src/core.ts'

const [folder, name, count, enough] = process.argv.slice(2) as [string, string, string, string]
const HOUR = 3_600_000
const now = Date.now
const project = openProject(folder)
const session = await project.session('many')
for (let written = 0; written < Number(count) || !existsSync(enough); written += 1) {
  if (written === Number(count) / 2) Date.now = () => now() - HOUR
  const [entry] = session.append([{ progress: `${name}/${written}` }])
  writeSync(1, `ack ${entry!.id}\n`)
}
session.close()
project.dispose()
