import { resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { defined } from '../../text/defined.ts'
import { type AcpOptions, acpHarness } from '../acp/drive.ts'
import { stintVersion, findStintProgram } from '../process/find-program.ts'
import type { DriveRequest, Harness, HarnessProblem } from '../contract/drive.ts'

/** The page takes no path of a script, which may hold commands, so this names it to the server. */
const SCRIPT_VARIABLE = 'STINT_REHEARSAL_SCRIPT'

export function rehearsalHarness(
  { script, state }: Pick<DriveRequest, 'script' | 'state'> = {},
  spawn?: AcpOptions['spawn'],
): Harness {
  const scriptFor = (env: NodeJS.ProcessEnv) => {
    const path = script ?? (env[SCRIPT_VARIABLE] || undefined)
    return path === undefined ? undefined : resolve(path)
  }
  const harnessIn = (env: NodeJS.ProcessEnv) => {
    const path = scriptFor(env)
    return acpHarness({
      name: 'rehearsal',
      command: process.execPath,
      args: [findStintProgram(), 'rehearsal', ...(path === undefined ? [] : ['--script', path])],
      capabilities: { resume: state !== undefined },
      ...defined({ spawn }),
    })
  }
  const withState = (env: NodeJS.ProcessEnv) =>
    state === undefined ? env : { ...env, STINT_REHEARSAL_STATE: state }
  const missing = (env: NodeJS.ProcessEnv) => problemWithScript(scriptFor(env))
  return {
    ...harnessIn({}),
    missing,
    async check(env) {
      const problem = await missing(env)
      return problem === undefined
        ? { isThere: true, version: stintVersion() }
        : { isThere: false, ...problem }
    },
    open: (options) => harnessIn(options.env).open({ ...options, env: withState(options.env) }),
  }
}

async function problemWithScript(script: string | undefined): Promise<HarnessProblem | undefined> {
  try {
    const { loadScript } = await import('./agent/script.ts')
    loadScript(script)
    return undefined
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return {
      problem: error.message,
      hint: error.hint ?? 'stint rehearsal --help says what a script has',
    }
  }
}
