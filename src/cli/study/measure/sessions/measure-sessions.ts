import type { Complexity, MeasuredSessions } from '../../contract.ts'
import type { Lab } from '../lab.ts'
import { LANES } from '../trials.ts'
import { Project } from './project.ts'
import { storiesOf } from './story.ts'
import { type WorkedThrough, sumOf, workThrough } from './work-through.ts'

export interface SessionTrials {
  /** How many of each complexity. */
  readonly each: number
  readonly seed: number
  readonly tried: () => void
}

/** Works through some sessions of each complexity. */
export async function measureSessions(
  lab: Lab,
  { each, seed, tried }: SessionTrials,
): Promise<Readonly<Record<Complexity, MeasuredSessions>>> {
  const found: Record<Complexity, WorkedThrough[]> = { simple: [], medium: [], complex: [] }
  // The longest first, or the last lane would be at work alone.
  const left = (['complex', 'medium', 'simple'] as const).flatMap((complexity) =>
    storiesOf(complexity, each, seed).map((story) => ({
      complexity,
      story,
      project: new Project(lab),
    })),
  )
  // One after the other: they are of one machine, and setting up refuses when it sees another do the same.
  await lab.atOnce(1, async () => {
    for (const { project } of left) await project.setUp()
  })
  await lab.atOnce(LANES, async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      found[next.complexity].push(await workThrough(next.project, next.story))
      tried()
    }
  })
  return {
    simple: meanOf(found.simple),
    medium: meanOf(found.medium),
    complex: meanOf(found.complex),
  }
}

function meanOf(sessions: readonly WorkedThrough[]): MeasuredSessions {
  const mean = (of: (session: WorkedThrough) => number) =>
    Math.round((10 * sessions.reduce((sum, session) => sum + of(session), 0)) / sessions.length) /
    10
  return {
    sessions: sessions.length,
    tasks: mean(({ tasks }) => tasks),
    writes: mean(({ writes }) => writes),
    bytes: Math.round(mean(({ bytes }) => bytes)),
    commands: mean(({ commands }) => commands),
    tokens: Math.round(mean(({ tokens }) => tokens)),
    givenBack: sumOf(sessions.map(({ givenBack }) => givenBack)),
    shownOnDemand: sumOf(sessions.map(({ shownOnDemand }) => shownOnDemand)),
  }
}
