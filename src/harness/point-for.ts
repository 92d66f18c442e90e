import { estimated } from '../context/budget/figures.ts'
import { compactionPoint } from './claude/compaction-point.ts'
import { readCompactionSettings } from './claude/compaction-settings.ts'
import { windowOf } from './claude/models.ts'
import { usualPoint } from './compaction-points.ts'

export type PointOf = (window: number | undefined, model: string | undefined) => number | undefined

/** Where a harness compacts its conversations in a project, as far as that can be known beforehand. */
export function pointFor(harness: string, env: NodeJS.ProcessEnv, root: string): PointOf {
  if (harness !== 'claude') {
    return (window) =>
      window === undefined
        ? undefined
        : (usualPoint(harness, estimated(window, harness, ''))?.value ?? window)
  }
  const settings = readCompactionSettings({ root, env })
  return (window, model) => {
    const known =
      window === undefined ? windowOf(model, undefined) : estimated(window, 'stream', '')
    return compactionPoint({ window: known, settings })?.value
  }
}
