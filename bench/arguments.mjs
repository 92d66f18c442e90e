import { parseArgs } from 'node:util'
import { BENCHES } from './benches.mjs'

const LARGEST_SCALE = 10

/** Invalid arguments. */
export class Misused extends Error {}

/** The arguments of `npm run bench -- …`. */
export function askedFor(args) {
  const { values, positionals } = read(args)
  const { help = false, write = false } = values
  const scale = Number(values.scale ?? 1)
  if (!(scale > 0 && scale <= LARGEST_SCALE)) {
    throw new Misused(
      `--scale is a share of the full size, above 0 and up to ${LARGEST_SCALE}, as in --scale 0.05`,
    )
  }
  if (write && scale !== 1)
    throw new Misused(
      '--write puts figures into the page, which shows those of the full size: without --scale',
    )
  for (const name of positionals) {
    if (Object.hasOwn(BENCHES, name)) continue
    const meant = Number.isNaN(Number(name)) ? '' : ` (for a smaller run: --scale ${name})`
    throw new Misused(
      `there is no benchmark "${name}"${meant}; there are ${Object.keys(BENCHES).join(', ')}`,
    )
  }
  const names = Object.keys(BENCHES).filter(
    (name) => positionals.length === 0 || positionals.includes(name),
  )
  return { help, write, scale, names }
}

function read(args) {
  const options = {
    scale: { type: 'string' },
    write: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  }
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new Misused(error.message)
  }
}

export function helpText() {
  const width = Math.max(...Object.keys(BENCHES).map((name) => name.length))
  return `npm run bench -- [--scale SHARE] [--write] [NAME…]

Runs the benchmarks, all or those that are named, and prints their tables. Ends with 1 where a limit is passed or a benchmark failed.

  --scale SHARE  a share of the full size, as 0.05
  --write        puts the tables into docs/benchmarks.md; what is not run stays there as it is

${Object.entries(BENCHES)
  .map(([name, about]) => `  ${name.padEnd(width)}  ${about}`)
  .join('\n')}

Only on request, with options of its own (npm run bench -- continuity --help):

  continuity  the facts that a tool brings back after a compaction, /clear or a crash, with the real Claude Code

  npm run bench
  npm run bench -- --scale 0.05
  npm run bench -- hooks serve
`
}
