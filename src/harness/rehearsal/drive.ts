import { resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { defined } from '../../text/defined.ts'
import { type AcpOptions, acpHarness } from '../acp/drive.ts'
import { stintVersion, findStintProgram } from '../process/find-program.ts'
import type { DriveRequest, Harness, HarnessCheck } from '../contract/drive.ts'

export function rehearsalHarness(
  { script, state }: Pick<DriveRequest, 'script' | 'state'> = {},
  spawn?: AcpOptions['spawn'],
): Harness {
  const args = [
    findStintProgram(),
    'rehearsal',
    ...(script === undefined ? [] : ['--script', resolve(script)]),
  ]
  const capabilities = { resume: state !== undefined }
  const harness = acpHarness({
    name: 'rehearsal',
    command: process.execPath,
    args,
    capabilities,
    ...defined({ spawn }),
  })
  const withState = (env: NodeJS.ProcessEnv) =>
    state === undefined ? env : { ...env, STINT_REHEARSAL_STATE: state }
  return {
    ...harness,
    check: () => checkScript(script),
    open: (options) => harness.open({ ...options, env: withState(options.env) }),
  }
}

async function checkScript(script: string | undefined): Promise<HarnessCheck> {
  try {
    const { loadScript } = await import('./agent/script.ts')
    loadScript(script)
    return { isThere: true, version: stintVersion() }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return {
      isThere: false,
      problem: error.message,
      hint: error.hint ?? 'stint rehearsal --help says what a script has',
    }
  }
}
