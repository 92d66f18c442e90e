import { resolve } from 'node:path'
import { acpHarness } from '../acp/acp-harness.ts'
import type { Harness } from '../contract.ts'
import { stintProgram } from './stint-program.ts'

export interface RehearsalChoice {
  /** A script of what it does; without one every task is worked in the same way. */
  readonly script?: string
  /** A folder for what it remembers; without one it cannot go on with a conversation. */
  readonly state?: string
}

/** Our own agent, driven as any other. */
export function rehearsalHarness({ script, state }: RehearsalChoice = {}): Harness {
  const args = [stintProgram(), 'rehearsal', ...(script === undefined ? [] : ['--script', resolve(script)])]
  const capabilities = { resume: state !== undefined }
  const harness = acpHarness({ name: 'rehearsal', command: process.execPath, args, capabilities })
  const remembering = (env: NodeJS.ProcessEnv) => (state === undefined ? env : { ...env, STINT_REHEARSAL_STATE: state })
  return { ...harness, open: (options) => harness.open({ ...options, env: remembering(options.env) }) }
}
