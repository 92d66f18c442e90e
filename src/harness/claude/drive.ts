import type { Harness, ConversationOptions, Permissions } from '../contract/drive.ts'
import { spawnGuarded } from '../process/spawn-guarded.ts'
import { checkVersion, missingProgram } from '../process/find-program.ts'
import { ClaudeConversation } from './drive/conversation.ts'
import { StintError } from '../../journal/errors.ts'
import { PROTECTED_NAMES } from '../../command/inside-tree.ts'
import { shellCommands } from '../../command/shell-commands.ts'

export const claudeHarness: Harness = {
  name: 'claude',
  capabilities: {
    multiTurn: true,
    usage: 'request',
    compactionEvents: true,
    resume: true,
    systemPrompt: true,
    permissions: ['ask', 'edits', 'all'],
    instructions: ['CLAUDE.md'],
  },
  missing: async (env) => missingProgram(claudeProgram(env), env, HINT),
  check: (env) => checkVersion(claudeProgram(env), env, HINT, (output) => `fails: ${output}`),
  open: openConversation,
}

const HINT =
  'install it with `npm install -g @anthropic-ai/claude-code`, or name the program in STINT_CLAUDE'
function claudeProgram(env: NodeJS.ProcessEnv) {
  return env.STINT_CLAUDE || 'claude'
}

async function openConversation(options: ConversationOptions) {
  const env = claudeEnvironment(options)
  const { cwd, wrap } = options
  const program = spawnGuarded(claudeProgram(env), claudeArguments(options), { cwd, env, wrap })
  return new ClaudeConversation(program, options)
}

const PERMISSION_MODES: Readonly<Record<Permissions, string>> = {
  all: 'bypassPermissions',
  edits: 'acceptEdits',
  ask: 'default',
}

export function claudeArguments(options: ConversationOptions): readonly string[] {
  return [
    '-p',
    '--input-format=stream-json',
    '--output-format=stream-json',
    '--verbose',
    // Whole messages carry token placeholders; the partial ones end with the real counts.
    '--include-partial-messages',
    '--permission-prompt-tool=stdio',
    `--permission-mode=${PERMISSION_MODES[options.permissions]}`,
    ...protectedFiles(options),
    ...allowedTools(options),
    // In one word, so that a name that begins with a dash is not read as a flag.
    ...(options.model === undefined ? [] : [`--model=${options.model}`]),
    ...(options.resume === undefined ? [] : [`--resume=${options.resume}`]),
  ]
}

/**
 * `npm test:*` stops at the end of a word in every version; `npm test*` does not. Git commands are
 * asked about, since their first words do not say what they run.
 */
function allowedTools({ permissions, allow }: ConversationOptions) {
  if (permissions !== 'edits') return []
  const commands = allow.filter(
    (command) => PLAIN_COMMAND.test(command) && shellCommands(command).length === 1,
  )
  return commands.length === 0
    ? []
    : ['--allowedTools', ...commands.map((command) => `Bash(${command.trim()}:*)`)]
}

/** It edits the working tree without asking, so these are denied up front. */
function protectedFiles({ permissions }: ConversationOptions) {
  if (permissions !== 'edits') return []
  return [
    '--disallowedTools',
    ...PROTECTED_NAMES.flatMap((name) => [`Edit(**/${name})`, `Edit(**/${name}/**)`]),
  ]
}

const PLAIN_COMMAND = /^ *[\w./@+=-]+(?: [\w./@+=-]+)* *$/

/** Variables of an outer Claude Code. */
const OUTER_CLAUDE =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_ENV_FILE|CLAUDE_PROJECT_DIR|CLAUDE_CODE_(?:ENTRYPOINT|SESSION_ID|SSE_PORT|MESSAGING_\w+))$/

export function claudeEnvironment({ env, permissions }: ConversationOptions): NodeJS.ProcessEnv {
  if (permissions === 'all' && process.getuid?.() === 0 && env.IS_SANDBOX !== '1')
    throw new StintError(
      'ROOT_WITHOUT_SANDBOX',
      'Claude Code does not let root allow everything',
      'run as another user, or with --permissions edits; inside a container that may be broken, set IS_SANDBOX=1',
    )
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OUTER_CLAUDE.test(name)))
}
