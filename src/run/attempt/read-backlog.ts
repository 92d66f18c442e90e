import { setTimeout as sleep } from 'node:timers/promises'
import type { Backlog } from '../../backlog/backlog.ts'
import type { RunContext } from './run-context.ts'

const TRIES = 3
const PAUSE_MS = 1000

/** The backlog now. One that cannot be asked just now, as a server may not answer once, is as it was when it last could. */
export async function readBacklog({
  latest,
  source,
  workspace,
}: Pick<RunContext, 'latest' | 'source' | 'workspace'>): Promise<Backlog> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await source.read()
    } catch (error) {
      if (latest.backlog === undefined || source.name === '.tasks') throw error
      if (attempt < TRIES) {
        await sleep(PAUSE_MS * attempt)
        continue
      }
      workspace.say(
        `${source.name} cannot be read now, and is taken as it was: ${error instanceof Error ? error.message : String(error)}`,
      )
      return latest.backlog
    }
  }
}
