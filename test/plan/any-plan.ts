// Generators of histories, tasks and conversation loads, for property tests of the planner.
import * as fc from 'fast-check'
import { findPrice } from '../../src/context/budget/prices.ts'
import type { FinishedTask } from '../../src/run/plan/forecast.ts'
import type { PlannedTask } from '../../src/run/plan/order-tasks.ts'
import type { SizeClass } from '../../src/project/config/run-config.ts'
import type { ConversationLoad } from '../../src/run/plan/rotation.ts'

export const SIZE_CLASSES: readonly SizeClass[] = ['small', 'medium', 'large']
export const SONNET = findPrice('claude-sonnet-4-5', [])!.price

export const aSizeClass = fc.constantFrom(...SIZE_CLASSES)

export const aFinished: fc.Arbitrary<FinishedTask> = fc
  .record({
    sizeClass: aSizeClass,
    added: fc.integer({ min: 1, max: 300_000 }),
    requests: fc.integer({ min: 1, max: 400 }),
    output: fc.nat({ max: 80_000 }),
    seconds: fc.nat({ max: 5_000 }),
    wasCompacted: fc.boolean(),
    wasFirst: fc.boolean(),
    forecast: fc.option(fc.integer({ min: 1, max: 300_000 }), { nil: undefined }),
  })
  .map(({ forecast, ...task }) => (forecast === undefined ? task : { ...task, forecast }))

const anyNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(NaN, Infinity, -Infinity, -1, 0, Number.MAX_VALUE, Number.MIN_VALUE),
)

/** What a damaged log may contain. */
export const anythingFinished = fc.oneof(
  aFinished,
  fc.record({
    sizeClass: fc.oneof(aSizeClass, fc.constant('huge' as SizeClass)),
    added: anyNumber,
    requests: anyNumber,
    output: anyNumber,
    seconds: anyNumber,
    wasCompacted: fc.boolean(),
    wasFirst: fc.boolean(),
    forecast: anyNumber,
  }),
)

const aName = fc.constantFrom('a', 'b', 'c')

/** Tasks t0, t1, …, each of which may depend on any before it. */
export function someTasks(most: number, least = 0): fc.Arbitrary<readonly PlannedTask[]> {
  const fields = fc.record({
    sizeClass: aSizeClass,
    labels: fc.uniqueArray(aName, { maxLength: 2 }),
    parent: fc.option(aName, { nil: undefined, freq: 3 }),
    group: fc.option(aName, { nil: undefined, freq: 1 }),
    behind: fc.option(fc.nat({ max: most }), { nil: undefined }),
  })
  return fc.array(fields, { minLength: least, maxLength: most }).map((all) =>
    all.map(({ sizeClass, labels, parent, group, behind }, index) => ({
      id: `t${index}`,
      sizeClass,
      labels,
      dependsOn: behind !== undefined && behind < index ? [`t${behind}`] : [],
      ...(parent === undefined ? {} : { parent }),
      ...(group === undefined ? {} : { group }),
    })),
  )
}

const doneBefore = someTasks(3).map((tasks) =>
  tasks.map((task) => ({ ...task, id: `done-${task.id}`, dependsOn: [] })),
)

export const aStanding: fc.Arbitrary<ConversationLoad> = fc
  .record({
    context: fc.nat({ max: 220_000 }),
    base: fc.integer({ min: 1_000, max: 40_000 }),
    point: fc.option(fc.constantFrom(90_000, 155_000, 167_000, 967_000), { nil: undefined }),
    smartZone: fc.constantFrom(60_000, 100_000, 400_000),
    done: doneBefore,
    price: fc.option(fc.constant(SONNET), { nil: undefined }),
    isWarm: fc.boolean(),
  })
  .map(({ point, price, ...standing }) => ({
    ...standing,
    ...(point === undefined ? {} : { point }),
    ...(price === undefined ? {} : { price }),
  }))

export function task(id: string, fields: Partial<PlannedTask> = {}): PlannedTask {
  return { id, sizeClass: 'small', labels: [], dependsOn: [], ...fields }
}

export function finished(fields: Partial<FinishedTask> = {}): FinishedTask {
  return {
    sizeClass: 'small',
    added: 14_000,
    requests: 24,
    output: 3_900,
    seconds: 155,
    wasCompacted: false,
    wasFirst: false,
    ...fields,
  }
}
