import type { Config } from '../project/config.ts'
import { withoutSecrets } from '../project/clean-draft.ts'
import { shorten } from '../text/clean.ts'

/** As long as any secret: one that is cut in two is not known by its parts. */
const MARGIN = 4096

/** The beginning of a text, without secrets. They are taken out first, and then the rest is cut. */
export function clip(text: string, max: number, config: Config): string {
  return shorten(withoutSecrets(text.slice(0, max + MARGIN), config), max)
}
