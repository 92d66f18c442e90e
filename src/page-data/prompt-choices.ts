// What the page may choose for a prompt. Someone with the page's token may choose among what the user
// has agreed to, and can name neither a command nor a file.
import type { Permissions } from '../harness/contract/drive.ts'
import { drivableNames, findHarness } from '../harness/registry.ts'
import { StintError, messageOf } from '../journal/errors.ts'
import { type Config, DEFAULT_CONFIG } from '../project/config/config.ts'
import { readConfig } from '../project/config/read-config.ts'
import { acceptsForeignJournals } from '../project/config/consent.ts'
import { type ProjectPaths, isRefusedJournal, logIds } from '../project/store/project-paths.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { type HarnessWorkspace, loadHarness } from '../run/loop/make-run-context.ts'
import type { PromptRequest } from '../run/prompt/prompt-events.ts'
import { defined } from '../text/defined.ts'
import type { HarnessRow, PromptChoices } from './page-types.ts'

/** Opening the page starts no process and opens no connection. */
export async function promptChoices({ paths, env }: Workspace): Promise<PromptChoices> {
  const config = configOrDefault(paths)
  const row = (name: string) => harnessRow(name, { paths, config }, env)
  return {
    harnesses: await Promise.all(harnessNames(config).map(row)),
    permissions: permissionsFor(config),
    needsTrust: needsTrust(paths, config),
  }
}

export function refuseOtherChoices(
  { paths }: Workspace,
  { harness, permissions }: Pick<PromptRequest, 'harness' | 'permissions'>,
): void {
  // Read anew: the user may have agreed, or changed it, since the page was opened.
  const config = readConfig(paths)
  const names = harnessNames(config)
  if (harness !== undefined && !names.includes(harness))
    throw new StintError(
      'HARNESS_NOT_OFFERED',
      'only a harness of the configuration can be chosen here, and no command',
      `one of ${names.join(', ')}; stint prompt --harness takes any`,
    )
  if (permissions !== undefined && !permissionsFor(config).includes(permissions))
    throw new StintError(
      'PERMISSIONS_NOT_OFFERED',
      'the configuration does not let an agent do everything without asking',
      `stint prompt --permissions ${permissions} "…" in a terminal, or run.permissions: ${permissions} in .sessions/config.yaml and stint trust`,
    )
}

/** By name, and the agreed `run.harness`, which may be a command. */
function harnessNames({ api, run }: Config): readonly string[] {
  const configured = run.harness === undefined ? [] : [run.harness]
  return [...new Set([...drivableNames(api), ...configured])]
}

function permissionsFor({ run }: Config): readonly Permissions[] {
  return run.permissions === 'all' ? ['ask', 'edits', 'all'] : ['ask', 'edits']
}

function needsTrust(paths: ProjectPaths, { withheld }: Config): boolean {
  if (withheld.length > 0) return true
  return (
    !acceptsForeignJournals(paths.root) &&
    [...logIds(paths)].some((id) => isRefusedJournal(paths, id))
  )
}

function configOrDefault(paths: ProjectPaths): Config {
  try {
    return readConfig(paths)
  } catch (error) {
    // Commands that need the configuration report its errors.
    if (!(error instanceof StintError)) throw error
    return DEFAULT_CONFIG
  }
}

async function harnessRow(
  name: string,
  workspace: HarnessWorkspace,
  env: NodeJS.ProcessEnv,
): Promise<HarnessRow> {
  const { isScripted } = findHarness(name) ?? {}
  try {
    const missing = await (await loadHarness(name, workspace)).missing(env)
    return { name, ...defined({ isScripted }), isThere: missing === undefined, ...missing }
  } catch (error) {
    return { name, ...defined({ isScripted }), isThere: false, problem: messageOf(error) }
  }
}
