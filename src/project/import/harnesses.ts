import { claudeHistory } from '../../harness/claude/history.ts'
import { codexHistory } from '../../harness/codex/history.ts'
import { geminiHistory } from '../../harness/gemini/history.ts'
import type { HistoryHarness } from '../../harness/contract/history.ts'

/** Those that keep a file for each conversation. */
export const OF_FILES: readonly HistoryHarness[] = [claudeHistory, codexHistory, geminiHistory]
export const IMPORTED_HARNESSES = [...OF_FILES.map(({ name }) => name), 'opencode']

export function harnessNamed(name: string): HistoryHarness {
  const found = OF_FILES.find((harness) => harness.name === name)
  if (found === undefined) throw new Error(`there is no history of ${name}`)
  return found
}
