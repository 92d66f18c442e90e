// Whether the command that is registered finds a Stint, found out by running it.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { readOrUndefined, statOrUndefined } from '../../../journal/look.ts'
import { AFTER_COMMAND, HOOK_COMMAND, PROBE_ANSWER, PROBE_EVENT } from '../../setup/hook-command.ts'
import { launcherPath, programIn } from './launcher.ts'
import { type Surroundings, machineFolder } from './places.ts'

export interface Probe {
  /** How a Stint is found, in the order in which the command looks; null when there is none. */
  readonly foundBy: 'launcher' | 'project' | 'path' | null
  readonly program: string | null
  readonly exitCode: number | null
  /** What it said, which has to be the answer to the probe and nothing else. */
  readonly output: string
}

const LIMIT_MS = 5000

/** Runs the hook command with an event that changes nothing. */
export function probeHookCommand(around: Surroundings): Probe {
  const { root, env } = around
  const event = { hook_event_name: PROBE_EVENT, session_id: '', cwd: root }
  // Of the two that are registered, the one that fails is what there is to know of.
  const answers = [HOOK_COMMAND, AFTER_COMMAND].map((command) =>
    shell(command, around, JSON.stringify(event)),
  )
  const ran = answers.find(({ stdout }) => stdout.trim() !== PROBE_ANSWER) ?? answers[0]!
  const launched = programIn(
    readOrUndefined(launcherPath(machineFolder(around)))?.toString('utf8') ?? '',
  )
  const bin = join(root, 'node_modules', '.bin', 'stint')
  const onPath = () => shell('command -v stint', around, '').stdout.trim()
  const outcome = { exitCode: ran.status, output: `${ran.stdout}${ran.stderr}`.trim() }
  if (launched !== undefined && isThere(launched.node) && isThere(launched.hook)) {
    return { foundBy: 'launcher', program: launched.hook, ...outcome }
  }
  if (isThere(bin)) return { foundBy: 'project', program: bin, ...outcome }
  const path = env.PATH === undefined ? '' : onPath()
  return path === ''
    ? { foundBy: null, program: null, ...outcome }
    : { foundBy: 'path', program: path, ...outcome }
}

function shell(command: string, { root, env }: Surroundings, input: string) {
  return spawnSync('sh', ['-c', command], {
    cwd: root,
    env: { ...env, CLAUDE_PROJECT_DIR: root },
    input,
    encoding: 'utf8',
    timeout: LIMIT_MS,
  })
}

function isThere(path: string): boolean {
  return statOrUndefined(path)?.isFile() === true
}
