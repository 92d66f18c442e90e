import { stateHome } from '../../../journal/state-home.ts'
import type { Surroundings } from '../../contract/setup.ts'
import { join } from 'node:path'
import { StintError } from '../../../journal/errors.ts'
import { MCP_FILE } from '../../setup/mcp-command.ts'
import { slashCommandFiles } from './slash-commands.ts'
import { hookGroups } from './settings.ts'
import { type HookProgram, planLastRemoval, planLauncher } from '../../setup/launcher.ts'
import {
  type Plan,
  innermostFirst,
  manifestPath,
  readManifest,
  recordOf,
  recordRemoval,
} from '../../setup/plan.ts'
import { planOwned, planOwnedRemoval, retiredPaths } from '../../setup/planned-file.ts'
import { byEvent } from './settings-edit.ts'

export const PLUGIN = 'stint'
const DESCRIPTION = 'Durable sessions: what was done, decided and found survives compaction'

interface PluginOptions {
  readonly version: string
  readonly notify: boolean
  readonly mcp: boolean
}

export function pluginFiles({ version, notify, mcp }: PluginOptions): ReadonlyMap<string, string> {
  const owner = { name: 'Stint' }
  const marketplace = {
    name: PLUGIN,
    owner,
    metadata: { description: DESCRIPTION },
    plugins: [{ name: PLUGIN, source: `./${PLUGIN}`, description: DESCRIPTION }],
  }
  const manifest = {
    name: PLUGIN,
    version,
    description: DESCRIPTION,
    author: owner,
    license: 'MIT',
  }
  return new Map([
    [join('.claude-plugin', 'marketplace.json'), asJson(marketplace)],
    [join(PLUGIN, '.claude-plugin', 'plugin.json'), asJson(manifest)],
    [join(PLUGIN, 'hooks', 'hooks.json'), asJson({ hooks: byEvent(hookGroups({ notify })) })],
    ...(mcp ? [[join(PLUGIN, '.mcp.json'), asJson(MCP_FILE)] as const] : []),
    ...[...slashCommandFiles()].map(
      ([name, text]) => [join(PLUGIN, 'commands', name), text] as const,
    ),
  ])
}

export function planPlugin(
  folder: string,
  around: Surroundings,
  program: HookProgram | undefined,
  options: PluginOptions,
): Plan {
  const machine = stateHome(around.env)
  const known = readManifest(manifestPath(machine, folder), folder)
  const owned = planOwned(inFolder(folder, options), folder, known.files)
  if (owned.foreign.length > 0) {
    throw new StintError(
      'NOT_OURS',
      `${owned.foreign[0]!} is there already and is not ours; nothing was changed`,
      'choose an empty folder, or move that file away',
    )
  }
  const launcher = planLauncher(machine, program)
  const changes = [...owned.changes, ...launcher.changes]
  return {
    changes,
    record: recordOf(machine, known, changes, owned.written),
    folders: [],
    notes: launcher.notes,
  }
}

export function planPluginRemoval(
  folder: string,
  around: Surroundings,
  options: PluginOptions,
): Plan {
  const machine = stateHome(around.env)
  const known = readManifest(manifestPath(machine, folder), folder)
  const files = inFolder(folder, { ...options, mcp: true })
  const all = new Map<string, string | undefined>([
    ...files,
    ...retiredPaths(files, folder, known.files),
  ])
  const { changes, foreign } = planOwnedRemoval(all, known.files)
  return {
    changes: [...changes, ...planLastRemoval(machine, manifestPath(machine, folder), changes)],
    record: recordRemoval(machine, known),
    folders: innermostFirst(known.folders),
    notes: foreign.map((path) => `left alone: ${path} was changed since, or is not ours`),
  }
}

function inFolder(folder: string, options: PluginOptions): ReadonlyMap<string, string> {
  return new Map([...pluginFiles(options)].map(([path, text]) => [join(folder, path), text]))
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
