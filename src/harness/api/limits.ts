import type { HarnessLimits } from '../contract/limits.ts'
import { roomFor, settingsFor } from './drive/settings.ts'

export const apiLimits: HarnessLimits = {
  compactionPoint: () => () => undefined,
  configuredPoint: (name, model, models) => {
    const settings = settingsFor(name, models)
    const asked = model ?? settings?.model
    return settings === undefined || asked === undefined
      ? undefined
      : roomFor(settings, asked).point
  },
}
