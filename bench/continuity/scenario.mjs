// Plays one scenario with the tool under test and again without it, and compares the requests.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer } from 'ai-tokenizer'
import * as claude from 'ai-tokenizer/encoding/claude'
import none from './adapters/none.mjs'
import { EVENTS } from './events.mjs'
import { injectedText } from './injected-text.mjs'
import {
  hookTime,
  idleHooks,
  playWork,
  programsPerTurn,
  recordFacts,
  requestAfter,
} from './measure.mjs'
import { scoreOf } from './score.mjs'

const tokenizer = new Tokenizer(claude)
const hasStrace = canRun('strace', '-V')

/**
 * The rows of a scenario: what was injected after each event, and what the tool cost in the work.
 * `sources` may hold the scenario's own and `recorded`.
 */
export async function scenarioRows({
  world,
  model,
  adapter,
  set,
  scenario,
  sources,
  options,
  say,
}) {
  const started = performance.now()
  const report = (what) => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    say(`${adapter.name} ${set}/${scenario.source}: ${what}, ${seconds} s`)
  }
  const events = options.events.filter((event) => EVENTS[event].isPossible?.(adapter) ?? true)
  const isRecorded = sources.includes('recorded') && adapter.record !== undefined
  const isWorked = sources.includes(scenario.source)
  const shared = { world, model, scenario }
  const play = async (played) => {
    const work = await playWork({ ...shared, ...played })
    report(`${played.name}: ${work.turns} turns`)
    return work
  }
  const requests = async (played) => {
    const bodies = {}
    for (const event of events) {
      bodies[event] = await requestAfter({ ...shared, ...played, event })
      report(`${played.name}: ${event}`)
    }
    return bodies
  }
  const programs = (played) =>
    hasStrace && isWorked ? programsPerTurn({ world, ...played }) : undefined

  const work = await play({ adapter, name: 'worked' })
  const worked = isWorked ? await requests({ adapter, work, name: 'worked' }) : undefined
  const programsWith = await programs({ work, name: 'worked' })
  let recorded
  if (isRecorded) {
    await recordFacts({ ...shared, adapter, work, from: 'worked', name: 'recorded' })
    report('recorded')
    recorded = await requests({ adapter, work, name: 'recorded' })
  }
  const idle = await play({ adapter: none, hooks: idleHooks(work.hooks), name: 'idle' })
  const bare = await requests({ adapter: none, work: idle, name: 'idle' })
  const programsWithout = await programs({ work: idle, name: 'idle', isBare: true })

  const row = (source, bodies) => {
    const name = { adapter: adapter.name, set, source }
    const after = Object.fromEntries(
      options.events.map((event) => [
        event,
        events.includes(event) && bodies !== undefined
          ? outcome({
              name,
              event,
              body: bodies[event],
              bare: bare[event],
              scenario,
              adapter,
              options,
            })
          : { isMissing: true },
      ]),
    )
    return { ...name, after }
  }
  const cost = {
    hookMs: hookTime(work),
    idleHookMs: hookTime(idle),
    programs: programsWith === undefined ? undefined : programsWith - programsWithout,
    calls: (work.calls - idle.calls) / work.turns,
    left: work.left,
  }
  return [
    ...(isWorked ? [{ ...row(scenario.source, worked), cost }] : []),
    ...(sources.includes('recorded') ? [row('recorded', recorded)] : []),
  ]
}

function outcome({ name, event, body, bare, scenario, adapter, options }) {
  const recalled = (adapter.recall?.() ?? []).map((call) => call.name)
  const text = injectedText(body, bare, { recalled })
  if (options.texts !== undefined) {
    mkdirSync(options.texts, { recursive: true })
    const file = [...Object.values(name), event].join('.')
    writeFileSync(join(options.texts, `${file}.txt`), text)
  }
  const { missing, wrong, ...score } = scoreOf(scenario, text)
  // The ids of a held-out set stay unknown.
  const ids = options.isHeldOut(name.set) ? {} : { missing, wrong }
  // Asking the tool takes the model one more call.
  const calls = recalled.length === 0 ? 0 : 1
  return {
    ...score,
    ...ids,
    calls,
    tokens: text === '' ? 0 : tokenizer.encode(text, [], []).length,
  }
}

function canRun(program, ...args) {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    // It is not installed.
    return false
  }
}
