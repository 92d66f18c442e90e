// Plays the work and the events of one scenario with one adapter.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EVENTS, STATE_PROMPT } from './events.mjs'
import { pause } from './conversation.mjs'
import { bash, repliesOf } from './scripted-model.mjs'

const PROBE_SETTLE_MS = 1_500

/**
 * Plays the scripted turns and saves the state as `name`. The last turn is played in a resumed
 * conversation: a compaction starts from the state before it, and so needs no turn of its own.
 */
export async function playWork({ world, model, scenario, adapter, hooks, name }) {
  await world.create(scenario.files, { env: adapter.env?.(world), args: adapter.args?.(world) })
  model.forget()
  await adapter.prepare(world)
  if (hooks !== undefined) world.writeHooks(hooks)
  const registered = world.hooks(adapter.hookFiles?.(world))
  const conversation = world.talk()
  for (const turn of scenario.turns.slice(0, -1)) await playTurn(conversation, turn)
  await conversation.end()
  await world.settle()
  await world.save(beforeLast(name))
  const last = await playLastTurn({ world, scenario, adapter, id: conversation.id, name })
  return {
    id: conversation.id,
    calls: model.calls,
    hookTimes: [...conversation.hooks, ...last.hookTimes],
    hooks: registered,
    left: last.left,
    turns: scenario.turns.length,
  }
}

/** Records the facts before the last turn of the work, and saves the state as `name`. */
export async function recordFacts({ world, scenario, adapter, work, from, name }) {
  await world.restore(beforeLast(from))
  await adapter.record(world, scenario.facts)
  await world.settle()
  await world.save(beforeLast(name))
  await playLastTurn({ world, scenario, adapter, id: work.id, name })
}

async function playLastTurn({ world, scenario, adapter, id, name }) {
  const conversation = world.talk({ resume: id })
  await playTurn(conversation, scenario.turns.at(-1))
  await conversation.end()
  await adapter.afterWork?.(world)
  const left = await world.settle()
  await world.save(name)
  return { hookTimes: conversation.hooks, left }
}

/** With `isFull` the model reports with its reply that the window is full. */
async function playTurn(conversation, turn, { isFull = false } = {}) {
  const { replies, answers } = repliesOf(turn)
  const last = { ...replies.at(-1), isFull }
  const result = await conversation.say(turn.prompt, [...replies.slice(0, -1), last], answers)
  if (result.is_error) throw new Error(`a turn failed: ${JSON.stringify(result).slice(0, 300)}`)
}

function beforeLast(name) {
  return `${name}-before-last-turn`
}

/** The body of the request after an event. */
export async function requestAfter({ event, world, model, scenario, adapter, work, name }) {
  const { run, hasHappened, startsInConversation = false } = EVENTS[event]
  await world.restore(startsInConversation ? beforeLast(name) : name)
  const recall = adapter.recall?.() ?? []
  const ask = async (conversation) => {
    const replies = recall.length === 0 ? [] : [{ tools: recall }]
    await conversation.say(STATE_PROMPT, replies)
    await conversation.end()
  }
  const resume = async (options) => {
    const conversation = world.talk({ resume: work.id })
    if (startsInConversation) await playTurn(conversation, scenario.turns.at(-1), options)
    return conversation
  }
  await run({ world, adapter, ask, resume })
  const body = model.requestFor(STATE_PROMPT)
  if (hasHappened?.(body) === false) throw new Error(`the event "${event}" did not happen`)
  return body
}

/** How many programs start in a turn with one command. */
export async function programsPerTurn({ world, work, name, isBare = false }) {
  await world.restore(name)
  if (isBare) world.writeHooks({})
  const trace = join(world.root, 'trace')
  const conversation = world.talk({ resume: work.id, trace })
  await conversation.say('Go on.', [{ text: 'Going on.' }])
  await pause(PROBE_SETTLE_MS)
  const before = programsIn(trace)
  await conversation.say('List the files.', [{ tools: [bash('ls')] }, { text: 'Listed.' }])
  await pause(PROBE_SETTLE_MS)
  const after = programsIn(trace)
  await conversation.kill()
  return after - before
}

function programsIn(trace) {
  return readFileSync(trace, 'utf8')
    .split('\n')
    .filter((line) => line.includes('execve') && line.endsWith(' = 0')).length
}

/** The same hooks, which do nothing. */
export function idleHooks(hooks) {
  let count = 0
  // Each differs: the agent runs equal commands of an event once.
  const idle = (hook) => ({ ...hook, command: `node -e ${count++}` })
  return Object.fromEntries(
    Object.entries(hooks).map(([event, groups]) => [
      event,
      groups.map((group) => ({ ...group, hooks: group.hooks.map(idle) })),
    ]),
  )
}

/**
 * Milliseconds of hooks in an average turn, those the agent waits for and those it does not: the
 * median of each event, times how often it fires. A median, because other programs run on the
 * machine.
 */
export function hookTime({ hookTimes, hooks, turns }) {
  const groups = new Map()
  for (const time of hookTimes) {
    const isBackground = isAsync(hooks, time)
    const key = `${isBackground ? 'background' : 'blocking'} ${time.event}`
    groups.set(key, [...(groups.get(key) ?? []), time.ms])
  }
  const total = { blocking: 0, background: 0 }
  for (const [key, times] of groups)
    total[key.split(' ')[0]] += (median(times) * times.length) / turns
  return total
}

/** The agent starts the hooks of an event in the order of its settings. */
function isAsync(hooks, { event, subject, index }) {
  const matching = (hooks[event] ?? [])
    .filter(({ matcher = '' }) => matcher === '' || matcher === '*' || fits(matcher, subject))
    .flatMap((group) => group.hooks)
  return matching[index]?.async === true
}

function fits(matcher, subject) {
  return new RegExp(`^(?:${matcher})$`).test(subject)
}

function median(numbers) {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)]
}
