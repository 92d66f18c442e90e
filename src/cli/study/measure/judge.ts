import type { Deed, Standing, Status } from './worker/orders.ts'

const ORDER: readonly Status[] = ['open', 'working', 'done']

/**
 * What is wrong with a session, of what was acknowledged: that it is not there, that it is there twice, or that it is said to be at work or
 * not begun though it was done. What was never acknowledged may be there or not.
 */
export function wrongIn(standing: Standing, acknowledged: readonly Deed[]): readonly string[] {
  const wrong: string[] = []
  for (const [text, times] of timesOf(acknowledged)) {
    const found = standing.counts[text] ?? 0
    if (found !== times) wrong.push(`${text}: ${found} times instead of ${times}`)
  }
  for (const [name, expected] of lastStatuses(acknowledged)) {
    const found = standing.statuses[name]
    if (found === undefined || ORDER.indexOf(found) < ORDER.indexOf(expected))
      wrong.push(`${name}: ${found ?? 'missing'}, not ${expected}`)
  }
  return wrong
}

function timesOf(deeds: readonly Deed[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const deed of deeds) {
    const text =
      'decision' in deed ? deed.decision : 'discovery' in deed ? deed.discovery : undefined
    if (text !== undefined) times.set(text, (times.get(text) ?? 0) + 1)
  }
  return times
}

function lastStatuses(deeds: readonly Deed[]): ReadonlyMap<string, Status> {
  const statuses = new Map<string, Status>()
  for (const deed of deeds) {
    if ('step' in deed) statuses.set(`step ${deed.step}`, deed.is)
    else if ('task' in deed) statuses.set(`task ${deed.task}`, deed.is)
    else if ('ticked' in deed) statuses.set(`item ${deed.ticked}`, 'done')
  }
  return statuses
}
