// Plays the work and the events of one scenario with one adapter.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EVENTS, STATE_PROMPT } from './events.mjs'
import { pause } from './conversation.mjs'
import { bash, repliesOf } from './scripted-model.mjs'

const PROBE_SETTLE_MS = 1_500

/** Plays the scripted turns and saves the state as `name`. */
export async function playWork({ world, model, scenario, adapter, hooks, name }) {
  await world.create(scenario.files, adapter.env?.(world))
  model.forget()
  await adapter.prepare(world)
  if (hooks !== undefined) world.writeHooks(hooks)
  const registered = world.hooks(adapter.hookFiles?.(world))
  const conversation = world.talk()
  for (const turn of scenario.turns) {
    const { replies, answers } = repliesOf(turn)
    const result = await conversation.say(turn.prompt, replies, answers)
    if (result.is_error) throw new Error(`a turn failed: ${JSON.stringify(result).slice(0, 300)}`)
  }
  await conversation.end()
  await adapter.afterWork?.(world)
  const left = await world.settle()
  await world.save(name)
  return {
    id: conversation.id,
    calls: model.calls,
    hookTimes: conversation.hooks,
    hooks: registered,
    left,
    turns: scenario.turns.length,
  }
}

/** The body of the request after an event. */
export async function requestAfter({ event, world, model, scenario, adapter, work, name }) {
  await world.restore(name)
  const { run, hasHappened } = EVENTS[event]
  const recall = adapter.recall?.() ?? []
  const ask = async (conversation) => {
    const replies = recall.length === 0 ? [] : [{ tools: recall }]
    await conversation.say(STATE_PROMPT, replies)
    await conversation.end()
  }
  await run({ world, work, adapter, ask })
  const body = model.requestFor(STATE_PROMPT)
  const [{ prompt: firstPrompt }] = scenario.turns
  if (hasHappened?.(JSON.stringify(body.messages), { firstPrompt }) === false)
    throw new Error(`the event "${event}" did not happen`)
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
  return Object.fromEntries(
    Object.entries(hooks).map(([event, groups]) => [
      event,
      groups.map((group) => ({
        ...group,
        hooks: group.hooks.map((hook) => ({ ...hook, command: 'node -e 0' })),
      })),
    ]),
  )
}

/**
 * Milliseconds of hooks in an average turn: the median of each event, times how often it fires. A
 * median, because other programs run on the machine.
 */
export function hookTime({ hookTimes, turns }) {
  const byEvent = groupByEvent(hookTimes)
  let total = 0
  for (const times of byEvent.values()) total += median(times.map(({ ms }) => ms)) * times.length
  return total / turns
}

// Node 20 has no Map.groupBy.
function groupByEvent(hookTimes) {
  const groups = new Map()
  for (const time of hookTimes)
    groups.set(time.event, [...(groups.get(time.event) ?? []), time])
  return groups
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
