import type { Finding, Look } from './finding.ts'
import { byCount } from './languages.ts'

const MOST = 5
const SMALLEST_SHARE = 0.02

/** The languages by their share of the files, the largest first. */
export function languageFindings({ tree }: Look): readonly Finding[] {
  const total = [...tree.languages.values()].reduce((sum, count) => sum + count, 0)
  const shown = byCount(tree.languages).filter(([, count]) => count / total >= SMALLEST_SHARE)
  return shown.slice(0, MOST).map(([language, count]) => ({
    topic: 'languages',
    text: shown.length === 1 ? language : `${language} ${Math.round((100 * count) / total)}%`,
    from: 'git ls-files',
  }))
}
