import { resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { acpHarness } from '../acp/drive.ts'
import { findVersion } from '../claude/setup/program.ts'
import type { Harness, HarnessCheck } from '../contract/drive.ts'
import { stintProgram } from '../process/stint-program.ts'

export interface RehearsalChoice {
  /** A script of what it does; without one every task is worked in the same way. */
  readonly script?: string
  /** A folder for what it remembers; without one it cannot go on with a conversation. */
  readonly state?: string
}

/** Our own agent, driven as any other. */
export function rehearsalHarness({ script, state }: RehearsalChoice = {}): Harness {
  const args = [
    stintProgram(),
    'rehearsal',
    ...(script === undefined ? [] : ['--script', resolve(script)]),
  ]
  const capabilities = { resume: state !== undefined }
  const harness = acpHarness({ name: 'rehearsal', command: process.execPath, args, capabilities })
  const remembering = (env: NodeJS.ProcessEnv) =>
    state === undefined ? env : { ...env, STINT_REHEARSAL_STATE: state }
  return {
    ...harness,
    check: () => check(script),
    open: (options) => harness.open({ ...options, env: remembering(options.env) }),
  }
}

/** It is this very program, so that nobody has to start it to know that it is there. */
async function check(script: string | undefined): Promise<HarnessCheck> {
  try {
    const { loadScript } = await import('./agent/load-script.ts')
    loadScript(script)
    return { isThere: true, version: findVersion() }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return {
      isThere: false,
      problem: error.message,
      hint: error.hint ?? 'stint rehearsal --help says what a script has',
    }
  }
}
