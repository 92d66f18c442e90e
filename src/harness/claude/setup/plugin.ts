import { join } from 'node:path'
import { StintError } from '../../../journal/errors.ts'
import { stateHome } from '../../../journal/state-home.ts'
import type { ProjectEnvironment } from '../../contract/setup.ts'
import { type HookProgram, MCP_FILE } from '../../setup/launcher.ts'
import {
  type SetupPlan,
  buildInstallPlan,
  planLauncher,
  buildRemovalPlan,
  readManifest,
} from '../../setup/plan.ts'
import { planOwnedFiles, planOwnedFileRemoval } from '../../setup/plan-files.ts'
import { PLUGIN, groupsByEvent, hookGroups } from './settings.ts'

const DESCRIPTION = 'Durable sessions: what was done, decided and found survives compaction'

interface PluginOptions {
  readonly version: string
  readonly notify: boolean
  readonly mcp: boolean
}

/** A folder that Claude Code accepts as a marketplace. */
function pluginFiles(folder: string, { version, notify, mcp }: PluginOptions) {
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
  const files: readonly (readonly [string, object])[] = [
    ['.claude-plugin/marketplace.json', marketplace],
    [`${PLUGIN}/.claude-plugin/plugin.json`, manifest],
    [`${PLUGIN}/hooks/hooks.json`, { hooks: groupsByEvent(hookGroups({ notify })) }],
    ...(mcp ? [[`${PLUGIN}/.mcp.json`, MCP_FILE] as const] : []),
  ]
  return new Map([
    ...files.map(
      ([path, value]) => [join(folder, path), `${JSON.stringify(value, undefined, 2)}\n`] as const,
    ),
    ...[...slashCommandFiles()].map(
      ([name, text]) => [join(folder, PLUGIN, 'commands', name), text] as const,
    ),
  ])
}

/** A foreign file is not overwritten. */
export function planPlugin(
  folder: string,
  { env }: ProjectEnvironment,
  program: HookProgram | undefined,
  options: PluginOptions,
): SetupPlan {
  const manifest = readManifest(stateHome(env), folder)
  const owned = planOwnedFiles(pluginFiles(folder, options), folder, manifest.files)
  if (owned.foreign.length > 0)
    throw new StintError(
      'NOT_OURS',
      `${owned.foreign[0]!} is there already and is not ours; nothing was changed`,
      'choose an empty folder, or move that file away',
    )
  const launcher = planLauncher(stateHome(env), program)
  return buildInstallPlan(stateHome(env), manifest, [owned, launcher], launcher.notes)
}

export function planPluginRemoval(
  folder: string,
  { env }: ProjectEnvironment,
  options: PluginOptions,
): SetupPlan {
  const manifest = readManifest(stateHome(env), folder)
  const files = pluginFiles(folder, { ...options, mcp: true })
  const { changes, foreign } = planOwnedFileRemoval(files, folder, manifest.files)
  const notes = foreign.map((path) => `left alone: ${path} was changed since, or is not ours`)
  return buildRemovalPlan(stateHome(env), manifest, changes, notes)
}

interface SlashCommand {
  readonly name: string
  readonly description: string
  readonly hint: string
  readonly command: string
  readonly afterwards: string
}

const ON_ERROR =
  'If it is an error, tell the user what it says, or correct the flags and run the command again.'

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  {
    name: 'session-init',
    description: 'Start a session',
    hint: '[--name NAME] [--goal TEXT] [--task ID | --tasks ID,ID]',
    command: 'init',
    afterwards:
      'If it shows a new session, say its name and go on with its goal. If it asks for flags, ask the user for a short name and for the goal, and run `stint init --name NAME --goal "GOAL"`.',
  },
  {
    name: 'session-resume',
    description: 'Take up a session where it was left',
    hint: '[SESSION] [--list]',
    command: 'resume',
    afterwards:
      'Say in two sentences where the work stands, then go on from Next Steps. The resume commands are proposals: run one only if it is needed.',
  },
  {
    name: 'session-log',
    description: 'Record progress, a decision, a discovery, a blocker or a next step',
    hint: '--progress TEXT | --decision TEXT --rationale TEXT | --discovery TEXT | --blocker TEXT | --next TEXT | --done STEP',
    command: 'log',
    afterwards: `Confirm in one line what was recorded. If the user gave words without flags, choose the flags that fit and run \`stint log\` with them. ${ON_ERROR}`,
  },
  {
    name: 'session-checkpoint',
    description: 'Save the state of the session, and the code with it',
    hint: '[--note TEXT] [--tldr TEXT]',
    command: 'checkpoint',
    afterwards: `Confirm in one line what was saved. ${ON_ERROR}`,
  },
  {
    name: 'session-handoff',
    description: 'Make the document by which a fresh conversation takes the session over',
    hint: '[--reason TEXT] [--to TASK | SESSION]',
    command: 'handoff create',
    afterwards: `Say in two sentences what the document hands over and what in it is unverified. Name the command for the next conversation, \`stint handoff accept\`, and stop working on the session here. ${ON_ERROR}`,
  },
  {
    name: 'session-view',
    description: 'Show a session, a part of it, or the list of all',
    hint: '[SESSION | list] [--progress] [--decisions] [--discoveries] [--blockers] [--next]',
    command: 'view',
    afterwards: `Show this to the user as it is. ${ON_ERROR}`,
  },
  {
    name: 'session-pause',
    description: 'Set the session down, with a checkpoint',
    hint: '[--note TEXT] [--switch-to SESSION]',
    command: 'pause',
    afterwards: `Confirm in one line, and name what is to be done when it is taken up again. ${ON_ERROR}`,
  },
  {
    name: 'session-close',
    description: 'Complete or abandon the session',
    hint: '--complete | --abandon --reason TEXT',
    command: 'close',
    afterwards:
      'Show this to the user. If it asks how the session ended, ask the user, and run `stint close --complete` or `stint close --abandon --reason "TEXT"`.',
  },
  {
    name: 'session-list',
    description: 'List sessions',
    hint: '[--status STATUS] [--branch BRANCH] [--task ID] [--text WORDS]',
    command: 'list',
    afterwards: `Show this to the user as it is. ${ON_ERROR}`,
  },
  {
    name: 'task-next',
    description: 'Show the task to work on next, and offer a session for it',
    hint: '[--start]',
    command: 'task next',
    afterwards:
      'Show the task to the user and ask whether to start a session for it. If yes, run `stint init --task SHORTNAME` with the short name of the task, and begin.',
  },
]

export function slashCommandFiles(): ReadonlyMap<string, string> {
  return new Map(SLASH_COMMANDS.map((command) => [`${command.name}.md`, commandFile(command)]))
}

/**
 * Arguments go through a here-document: on the command line an apostrophe would break the command.
 * It ends with `true`, because only the user sees a failing command. In this form a permission for
 * `stint` covers it in old and new versions. A code fence or the end marker in the arguments cuts
 * them off; then the last line is missing.
 */
function commandFile({ description, hint, command, afterwards }: SlashCommand) {
  return `---
description: ${JSON.stringify(description)}
argument-hint: ${JSON.stringify(hint)}
allowed-tools: Bash(stint:*)
---

<output of="stint ${command}">
\`\`\`!
stint slash --conversation=\${CLAUDE_SESSION_ID} --last-line=${LAST_LINE} ${command} <<'${END_MARKER}'
$ARGUMENTS
${LAST_LINE}
${END_MARKER}
true
\`\`\`
</output>

${afterwards}
`
}

const END_MARKER = 'STINT_ARGUMENTS_END'
const LAST_LINE = 'STINT_ARGUMENTS_WHOLE'
