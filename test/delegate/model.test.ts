import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MergeStep } from '../../src/run/merge/merge-context.ts'
import { cases } from '../support/cases.ts'
import { ModelledWorld } from './model.ts'

const STEPS: readonly MergeStep[] = [
  'begun',
  'merge made',
  'verified',
  'kept',
  'landing',
  'landed',
  'journals merged',
  'merged',
]

interface Act {
  readonly [fc.toStringMethod]: () => string
  readonly on: (world: ModelledWorld) => void | Promise<void>
}

const which = fc.nat(50)
const file = fc.nat(15)
const several = fc.array(which, { minLength: 1, maxLength: 3 })
const step = fc.constantFrom(...STEPS)

/** The weights make most steps cheap, and still cover everything. */
const act: fc.Arbitrary<Act> = fc.oneof(
  of(13, fc.constant(0), () => ['create', (world) => world.create()]),
  of(24, fc.tuple(which, file), ([d, f]) => [`commit ${d} ${f}`, (world) => world.commit(d, f)]),
  of(3, fc.tuple(which, file), ([d, f]) => [`amend ${d} ${f}`, (world) => world.amend(d, f)]),
  of(2, which, (d) => [`reset ${d}`, (world) => world.reset(d)]),
  of(2, fc.tuple(which, fc.boolean()), ([d, back]) => [
    `commit aside ${d}${back ? ' and back' : ''}`,
    (world) => world.detach(d, back),
  ]),
  of(18, which, (d) => [`ready ${d}`, (world) => world.ready(d)]),
  of(7, which, (d) => [`mend ${d}`, (world) => world.mend(d)]),
  of(2, which, (d) => [`discard ${d}`, (world) => world.discard(d)]),
  of(12, file, (f) => [`user commits ${f}`, (world) => world.userCommits(f)]),
  of(6, fc.constant(0), () => ['user edits', (world) => world.userEdits()]),
  of(5, fc.constant(0), () => ['user tidies', (world) => world.userTidies()]),
  of(7, several, (ds) => [`merge ${ds.join()}`, (world) => world.merge(ds)]),
  of(9, fc.tuple(which, step), ([d, at]) => [`crash ${d} at ${at}`, (world) => world.crash(d, at)]),
  of(5, which, (d) => [`recover ${d}`, (world) => world.recover(d)]),
)

function of<T>(
  weight: number,
  values: fc.Arbitrary<T>,
  make: (value: T) => readonly [string, Act['on']],
) {
  const arbitrary = values.map((value): Act => {
    const [name, on] = make(value)
    return { on, [fc.toStringMethod]: () => name }
  })
  return { weight, arbitrary }
}

const LONG = process.env['STINT_LONG_TESTS'] === '1'
const LENGTH = 120
const RUNS = LONG ? 200 : cases(18)

test(
  'loses no commit and only advances the target, for any actions of delegates, users and crashes',
  { timeout: 3_600_000 },
  async () => {
    let steps = 0
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(act, { minLength: LENGTH, maxLength: LENGTH }),
        async (isCheckedOut, acts) => {
          const world = new ModelledWorld(isCheckedOut)
          for (const { on } of acts) {
            await on(world)
            world.expectAsModelled()
            steps += 1
          }
          world.expectContent()
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    )
    expect(steps).toBeGreaterThanOrEqual(RUNS * LENGTH)
  },
)
