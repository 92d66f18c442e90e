import { join } from 'node:path'
import type { Harness, HarnessCheck, PermissionRequest } from '../../harness/contract/drive.ts'
import { findProgram } from '../../harness/process/find-program.ts'
import { StintError } from '../../journal/errors.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import { projectText } from '../../project/lifecycle/resume.ts'
import { runFolder } from '../../project/store/run-files.ts'
import { Workspace } from '../../project/store/workspace.ts'
import type { Task } from '../../backlog/task.ts'
import { OWN_COMMANDS, equip, plainEnvironment } from '../attempt/agent-environment.ts'
import type { BacklogSource } from '../sources/foreign.ts'
import { classOfRun, trackingFor } from '../plan/complexity.ts'
import { harnessNamed } from '../harnesses.ts'
import { loadProfiles } from '../profiles/profile.ts'
import { gatherInstructions, setupText } from '../texts/setup-text.ts'
import type { Emit } from '../entries.ts'
import type { RunLog } from '../run-log.ts'
import type { DelegateRun, RunContext, Stopping } from '../attempt/run-context.ts'
import type { ResolvedOptions } from '../options.ts'
import type { RunTree } from '../worktree/tree.ts'
import { defined } from '../../text/defined.ts'

interface ContextParts {
  readonly run: string
  readonly log: RunLog
  readonly harness: Harness
  readonly settled: ResolvedOptions
  readonly tree: RunTree
  readonly open: readonly Task[]
  /** With those that the run has worked on already. */
  readonly all: readonly Task[]
  readonly source: BacklogSource
  readonly stopping: Stopping
  readonly emit: Emit
  readonly decide: ((request: PermissionRequest) => Promise<boolean>) | undefined
  readonly delegate?: DelegateRun
  readonly spentBeside?: RunContext['spentBeside']
  readonly spending?: RunContext['spending']
}

/** Everything that the parts of a run share. */
export function makeRunContext(workspace: Workspace, parts: ContextParts): RunContext {
  const { run, log, harness, tree, open, all, source, stopping, emit } = parts
  const inTree = new Workspace(tree.tree, {
    say: (text) => emit('message', { text }),
    env: plainEnvironment(workspace.env),
  })
  const { config } = inTree
  const { profiles, problems } = loadProfiles(tree.tree)
  const named = [...parts.settled.allow, ...verifyCommands(parts.settled, config.verify, open)]
  const settled = { ...parts.settled, allow: [...named, ...OWN_COMMANDS] }
  const { instructions, files, notes } = gatherInstructions(tree.tree, {
    readByHarness: harness.capabilities.instructions,
    files: config.run.files,
    withoutSecrets: (text) => withoutSecrets(text, config),
  })
  for (const text of [...problems, ...notes]) emit('message', { text })
  const project = projectText(inTree)
  const verify = settled.verify ?? config.verify
  const setup = setupText({
    instructions,
    files,
    profiles,
    permissions: settled.permissions,
    allow: named,
    branch: tree.branch,
    limits: {
      minutes: Math.round(settled.taskMs / 60_000),
      silentMinutes: Math.round(settled.silenceMs / 60_000),
    },
    ...defined({ project, verify }),
  })
  const scene: RunContext = {
    run,
    workspace: inTree,
    log,
    harness,
    settled,
    tree,
    source,
    profiles,
    setup,
    latest: {},
    tracking: trackingFor(classOfRun({ tasks: all }).complexity),
    stopping,
    extraEnv: parts.delegate?.env ?? {},
    emit,
    ...defined({
      delegate: parts.delegate,
      wrap: parts.delegate?.wrap,
      spentBeside: parts.spentBeside,
      spending: parts.spending,
    }),
    // A run that may do what it does unasked never waits for a person who has gone.
    ...(parts.decide === undefined || settled.permissions !== 'ask'
      ? {}
      : { decide: parts.decide }),
  }
  equip(scene, open)
  return scene
}

/**
 * The harness, when it is there and keeps to what it is asked to. Of one that is put behind another command only that command
 * is looked for: its own program need not be anywhere but in there.
 */
export async function readyHarness(
  workspace: Workspace,
  settled: ResolvedOptions,
  run: string,
  wrap?: readonly string[],
): Promise<Harness> {
  const state = join(runFolder(workspace.place, run), 'rehearsal')
  const harness = await harnessNamed(settled.harness, workspace, {
    state,
    ...defined({ script: settled.script }),
  })
  const env = plainEnvironment(workspace.env)
  const check = wrap === undefined ? await harness.check(env) : checkWrap(wrap, env, workspace.cwd)
  if (!check.isThere) throw new StintError('HARNESS_MISSING', check.problem, check.hint)
  if (!harness.capabilities.permissions.includes(settled.permissions)) {
    const { permissions } = harness.capabilities
    throw new StintError(
      'NO_PERMISSIONS',
      `${harness.name} does not keep to --permissions ${settled.permissions}`,
      `it keeps to ${permissions.join(', ')}`,
    )
  }
  return harness
}

function checkWrap(
  [program = '']: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): HarnessCheck {
  if (findProgram(program, env, cwd) !== undefined) return { isThere: true, version: '' }
  return {
    isThere: false,
    problem: `there is no program ${program}, which delegates.wrap puts before the agent`,
    hint: 'install it, or mend delegates.wrap in .sessions/config.yaml',
  }
}

/** The commands that agents may run because they prove their work. */
export function verifyCommands(
  settled: ResolvedOptions,
  configured: string | undefined,
  open: readonly Task[],
): readonly string[] {
  const commands = [settled.verify ?? configured, ...open.map(({ verify }) => verify)]
  return [...new Set(commands.filter((command) => command !== undefined))]
}
