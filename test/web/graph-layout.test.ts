import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type GraphTask, layOutGraph, pathThrough } from '../../web/charts/graph-layout.ts'

const SIZE = { width: 180, height: 44 }

describe('the graph of a run', () => {
  test('puts a task to the right of its dependencies', () => {
    const { tasks } = layOutGraph([task('c', 'b', 'a'), task('b', 'a'), task('a')], SIZE)
    const x = (id: string): number => tasks.find((one) => one.id === id)?.x ?? Number.NaN
    expect(x('a')).toBeLessThan(x('b'))
    expect(x('b')).toBeLessThan(x('c'))
  })

  test('orders layers so that no lines cross, where that is possible', () => {
    const { tasks } = layOutGraph(
      [task('a'), task('b'), task('of-b', 'b'), task('of-a', 'a')],
      SIZE,
    )
    const y = (id: string): number => tasks.find((one) => one.id === id)?.y ?? Number.NaN
    expect(Math.sign(y('a') - y('b'))).toBe(Math.sign(y('of-a') - y('of-b')))
  })

  test('draws a cycle and marks the edge that closes it', () => {
    const { tasks, edges } = layOutGraph([task('a', 'c'), task('b', 'a'), task('c', 'b')], SIZE)
    expect(tasks).toHaveLength(3)
    expect(edges.filter(({ isCircular }) => isCircular)).toHaveLength(1)
  })

  test('ignores self-dependencies, duplicates and tasks outside the run', () => {
    const { edges } = layOutGraph([task('a', 'a', 'elsewhere'), task('b', 'a', 'a')], SIZE)
    expect(edges.map(({ from, to }) => [from, to])).toEqual([['a', 'b']])
  })

  test('puts unconnected tasks beside each other', () => {
    const { tasks, height } = layOutGraph(
      Array.from({ length: 12 }, (_, index) => task(`t${index}`)),
      SIZE,
    )
    expect(new Set(tasks.map(({ x }) => x)).size).toBe(4)
    expect(height).toBeLessThan(4 * SIZE.height)
  })

  test('leaves room around a task for the lines that pass it', () => {
    const { tasks, edges } = layOutGraph([task('a'), task('b', 'a'), task('c', 'b', 'a')], SIZE)
    const passing = edges.find(({ from, to }) => from === 'a' && to === 'c')
    const beside = tasks.find(({ id }) => id === 'b')
    expect(passing?.points).toHaveLength(4)
    for (const { x, y } of passing?.points.slice(1, 3) ?? []) {
      expect(x).toBeGreaterThanOrEqual(beside?.x ?? 0)
      expect(y < (beside?.y ?? 0) || y > (beside?.y ?? 0) + SIZE.height).toBe(true)
    }
  })

  test('places every task once, inside and without overlap, for any dependencies', () => {
    const graph = fc
      .array(fc.array(fc.nat(30), { maxLength: 4 }), { maxLength: 30 })
      .map((waits) =>
        waits.map((after, index) => task(`t${index}`, ...after.map((other) => `t${other}`))),
      )
    fc.assert(
      fc.property(graph, (tasks) => {
        const layout = layOutGraph(tasks, SIZE)
        expect(layout.tasks.map(({ id }) => id).toSorted()).toEqual(
          tasks.map(({ id }) => id).toSorted(),
        )
        for (const [index, { x, y }] of layout.tasks.entries()) {
          expect(
            x >= 0 &&
              y >= -0.01 &&
              x + SIZE.width <= layout.width &&
              y + SIZE.height <= layout.height + 0.01,
          ).toBe(true)
          for (const other of layout.tasks.slice(index + 1))
            expect(
              Math.abs(other.x - x) >= SIZE.width || Math.abs(other.y - y) >= SIZE.height,
            ).toBe(true)
        }
        for (const { points } of layout.edges) expect(pathThrough(points)).not.toContain('NaN')
      }),
      { numRuns: 60 },
    )
  })

  test('lays out a chain of thousands', () => {
    const tasks = Array.from({ length: 3000 }, (_, index) =>
      index === 0 ? task('t0') : task(`t${index}`, `t${index - 1}`),
    )
    expect(layOutGraph(tasks.toReversed(), SIZE).edges).toHaveLength(2999)
  })
})

function task(id: string, ...after: readonly string[]): GraphTask {
  return { id, after }
}
