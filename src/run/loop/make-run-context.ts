import { join } from 'node:path'
import type { Task } from '../../backlog/task.ts'
import type { DriveRequest, Harness, HarnessCheck } from '../../harness/contract/drive.ts'
import { findProgram } from '../../harness/process/find-program.ts'
import { StintError } from '../../journal/errors.ts'
import { projectText } from '../../project/lifecycle/resume.ts'
import { redaction, withoutSecrets } from '../../project/store/clean-draft.ts'
import { runFolder } from '../../project/store/run-files.ts'
import { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import {
  AGENT_COMMANDS,
  type RunContext,
  plainEnvironment,
  writeAgentFiles,
} from '../attempt/run-context.ts'
import type { ResolvedOptions } from '../options.ts'
import { runComplexity, trackingLevelFor } from '../plan/complexity.ts'
import { loadProfiles } from '../profiles/profile.ts'
import { gatherInstructions, setupText } from '../agent-prompts/setup-text.ts'
import { driveHarness, findHarness } from '../../harness/registry.ts'
import { conversationStore } from '../../history/store.ts'
import type { Config } from '../../project/config/config.ts'

interface ContextParts
  extends
    Pick<
      RunContext,
      'run' | 'log' | 'harness' | 'options' | 'tree' | 'source' | 'stopping' | 'emit'
    >,
    Pick<RunContext, 'delegate' | 'usedByOthers' | 'onUsage'> {
  readonly open: readonly Task[]
  readonly all: readonly Task[]
  readonly decide: RunContext['decide'] | undefined
}

export function makeRunContext(workspace: Workspace, parts: ContextParts): RunContext {
  const { run, log, harness, tree, open, all, source, stopping, emit } = parts
  const { decide, delegate, usedByOthers, onUsage } = parts
  const inTree = new Workspace(tree.tree, {
    say: (text) => emit('message', { text }),
    env: plainEnvironment(workspace.env),
  })
  const { config } = inTree
  const { profiles, problems } = loadProfiles(tree.tree, workspace.paths.root)
  const allow = [...parts.options.allow, ...verifyCommands(parts.options, config.verify, open)]
  const resolved = { ...parts.options, allow: [...allow, ...AGENT_COMMANDS] }
  const { permissions, silenceMs, taskMs } = resolved
  const { instructions, files, notes } = gatherInstructions(tree.tree, {
    readByHarness: harness.capabilities.instructions,
    files: config.run.files,
    withoutSecrets: (text) => withoutSecrets(text, config),
  })
  for (const text of [...problems, ...notes]) emit('message', { text })
  const setup = setupText({
    instructions,
    files,
    profiles,
    permissions,
    allow,
    branch: tree.branch,
    limits: {
      minutes: Math.round(taskMs / 60_000),
      silentMinutes: Math.round(silenceMs / 60_000),
    },
    ...defined({ project: projectText(inTree), verify: resolved.verify ?? config.verify }),
  })
  const context: RunContext = {
    run,
    workspace: inTree,
    log,
    harness,
    options: resolved,
    tree,
    source,
    profiles,
    setup,
    latest: {},
    tracking: trackingLevelFor(runComplexity(all)),
    stopping,
    extraEnv: delegate?.env ?? {},
    emit,
    ...defined({
      delegate,
      wrap: delegate?.wrap,
      usedByOthers,
      onUsage,
      // Only `ask` may wait for the user.
      decide: permissions === 'ask' ? decide : undefined,
    }),
  }
  writeAgentFiles(context, open)
  return context
}

/**
 * The harness, if it is installed and supports the permissions. With a wrap command only that command is checked, because
 * the agent's own program may exist only inside a container.
 */
export async function requireHarness(
  workspace: Workspace,
  { harness: name, permissions, script }: ResolvedOptions,
  run: string,
  wrap?: readonly string[],
): Promise<Harness> {
  const state = join(runFolder(workspace.paths, run), 'rehearsal')
  const harness = await loadHarness(name, workspace, { state, ...defined({ script }) })
  const env = plainEnvironment(workspace.env)
  const check = wrap === undefined ? await harness.check(env) : checkWrap(wrap, env, workspace.cwd)
  if (!check.isThere) throw new StintError('HARNESS_MISSING', check.problem, check.hint)
  const { permissions: supported } = harness.capabilities
  if (supported.includes(permissions)) return harness
  throw new StintError(
    'NO_PERMISSIONS',
    `${harness.name} does not keep to --permissions ${permissions}`,
    `it keeps to ${supported.join(', ')}`,
  )
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

export function verifyCommands(
  { verify }: ResolvedOptions,
  configured: string | undefined,
  open: readonly Task[],
): readonly string[] {
  const commands = [verify ?? configured, ...open.map((task) => task.verify)]
  return [...new Set(commands.filter((command) => command !== undefined))]
}

export type HarnessWorkspace = Pick<Workspace, 'config' | 'paths'>

export function loadHarness(
  name: string,
  { config, paths }: HarnessWorkspace,
  options: Pick<DriveRequest, 'script' | 'state'> = {},
): Promise<Harness> {
  return driveHarness(name, {
    ...options,
    models: config.api,
    store: () => conversationStore(paths.sessions, redaction(config)),
  })
}

/** The configured compaction point of a bare model; undefined for other harnesses. */
export function configuredCompactionPoint(
  name: string,
  model: string | undefined,
  { api }: Config,
): number | undefined {
  return findHarness(name)?.limits?.configuredPoint?.(name, model, api)
}
