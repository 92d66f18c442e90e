// The arguments of `npm run bench -- continuity …`.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Misused } from '../arguments.mjs'
import { EVENTS } from './events.mjs'

const TUNING_SETS = ['cue-free', 'superseded']
const HELD_OUT_SETS = ['long', 'other-language', 'hypothetical']
const SOURCES = ['user', 'agent', 'tool', 'recorded']
const QUICK_EVENTS = ['compaction', 'clear', 'fresh']
const ADAPTERS = readdirSync(join(import.meta.dirname, 'adapters')).map((file) =>
  file.replace(/\.mjs$/, ''),
)

const OPTIONS = {
  set: { type: 'string', multiple: true },
  adapter: { type: 'string', multiple: true },
  source: { type: 'string', multiple: true },
  event: { type: 'string', multiple: true },
  quick: { type: 'boolean' },
  'held-out': { type: 'boolean' },
  out: { type: 'string' },
  texts: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
}

export function continuityOptions(args) {
  const { values } = parse(args)
  const { quick = false, 'held-out': heldOut = false } = values
  const known = [...TUNING_SETS, ...(heldOut ? HELD_OUT_SETS : [])]
  const hidden = values.set?.find((name) => HELD_OUT_SETS.includes(name))
  if (hidden !== undefined && !heldOut)
    throw new Misused(`the set "${hidden}" is held out; pass --held-out to run it`)
  if (heldOut && values.texts !== undefined)
    throw new Misused('--texts shows what was injected, so it cannot be used with --held-out')
  return {
    help: values.help ?? false,
    sets: chosen('set', values.set, quick ? known.slice(0, 1) : known, known),
    adapters: chosen('adapter', values.adapter, ['stint'], ADAPTERS),
    sources: chosen('source', values.source, quick ? ['user'] : SOURCES, SOURCES),
    events: chosen(
      'event',
      values.event,
      quick ? QUICK_EVENTS : Object.keys(EVENTS),
      Object.keys(EVENTS),
    ),
    out: values.out,
    texts: values.texts,
    isHeldOut: (set) => HELD_OUT_SETS.includes(set),
  }
}

function parse(args) {
  try {
    return parseArgs({ args, options: OPTIONS })
  } catch (error) {
    throw new Misused(error.message)
  }
}

function chosen(option, names, usual, known) {
  for (const name of names ?? [])
    if (!known.includes(name))
      throw new Misused(`there is no ${option} "${name}"; there are ${known.join(', ')}`)
  return names ?? usual
}

export const CONTINUITY_HELP = `npm run bench -- continuity [OPTIONS]

Plays scripted work with the real Claude Code and a scripted model, and counts the facts that a tool brings back after a compaction,
/clear, a crash and the like. See bench/continuity/README.md.

  --set NAME      a set of facts, repeatable: ${TUNING_SETS.join(', ')}; with --held-out also ${HELD_OUT_SETS.join(', ')}
  --adapter NAME  the tool under test, repeatable: ${ADAPTERS.join(', ')}
  --source NAME   repeatable: ${SOURCES.join(', ')}
  --event NAME    repeatable: ${Object.keys(EVENTS).join(', ')}
  --quick         one scenario, and only ${QUICK_EVENTS.join(', ')}
  --held-out      also run the sets that nobody tunes for
  --out FILE      write the results as JSON
  --texts FOLDER  write the injected texts, one file each
`
