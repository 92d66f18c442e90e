import type { HarnessLimits } from '../contract/limits.ts'
import { tokenLimits, findApiSettings } from './drive/settings.ts'

export const apiLimits: HarnessLimits = {
  compactionPoint: () => () => undefined,
  configuredPoint: (name, model, models) => {
    const settings = findApiSettings(name, models)
    const asked = model ?? settings?.model
    return settings === undefined || asked === undefined
      ? undefined
      : tokenLimits(settings, asked).point
  },
}
