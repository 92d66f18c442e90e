// All benchmark numbers of the docs, each as a ratio to a limit or rival in the same run: `npm run
// bench`. See `npm run bench -- --help`.
import { readFileSync, writeFileSync } from 'node:fs'
import { runApart } from './apart.mjs'
import { Misused, askedFor, helpText } from './arguments.mjs'
import { fileOf } from './benches.mjs'
import { sectionOf, withSection } from './table.mjs'

const PAGE = new URL('../docs/benchmarks.md', import.meta.url)
const MISUSED = 2
const say = (line) => process.stderr.write(`${line}\n`)

try {
  const args = process.argv.slice(2)
  const asked = args[0] === 'continuity' ? { continuity: args.slice(1) } : askedFor(args)
  if (asked.continuity !== undefined) {
    // It has options of its own, and runs only on request: it installs an agent program.
    const { main } = await import('./continuity/main.mjs')
    await main(asked.continuity)
  } else if (asked.help) process.stdout.write(helpText())
  else process.exitCode = await runAll(asked)
} catch (error) {
  if (!(error instanceof Misused)) throw error
  say(`bench: ${error.message}`)
  process.exitCode = MISUSED
}

async function runAll({ names, scale, write }) {
  let isFine = true
  for (const [index, name] of names.entries()) {
    const started = performance.now()
    say(`${name} (${index + 1} of ${names.length})`)
    const result = await runApart(name, fileOf(name), { scale })
    const section = sectionOf(result, { scale })
    // Written at once: a later benchmark may fail.
    process.stdout.write(`## ${name}\n\n${section}\n\n`)
    if (write && !result.hasFailed)
      writeFileSync(PAGE, withSection(readFileSync(PAGE, 'utf8'), name, section))
    if (write && result.hasFailed) say(`${name} failed: the page keeps what it had`)
    isFine &&= result.rows.every(({ ok }) => ok)
    say(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`)
  }
  return isFine ? 0 : 1
}
