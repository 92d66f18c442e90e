import { estimated } from '../context/budget/figures.ts'
import { findHarness } from './registry.ts'

export type PointOf = (window: number | undefined, model: string | undefined) => number | undefined

export function pointFor(harness: string, env: NodeJS.ProcessEnv, root: string): PointOf {
  const { limits } = findHarness(harness) ?? {}
  const pointOf = limits?.compactionPoint({ root, env })
  return (window, model) => {
    const known = window === undefined ? limits?.windowOf?.(model) : estimated(window, 'stream', '')
    return pointOf?.({ window: known })?.value ?? window
  }
}
