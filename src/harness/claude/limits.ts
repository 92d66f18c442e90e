import type { HarnessLimits } from '../contract/limits.ts'
import { compactionPoint } from './compaction-point.ts'
import { readCompactionSettings } from './compaction-settings.ts'
import { windowOf } from '../../context/budget/model-windows.ts'

export const claudeLimits: HarnessLimits = {
  windowOf: (model) => windowOf(model, undefined),
  compactionPoint: (project) => {
    const settings = readCompactionSettings(project)
    return (evidence) => compactionPoint({ ...evidence, settings })
  },
}
