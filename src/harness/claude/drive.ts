import type { Harness, ConversationOptions, Permissions } from '../contract/drive.ts'
import { spawnGuarded } from '../process/spawn-guarded.ts'
import { checkVersion } from '../process/find-program.ts'
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
  check: (env) => checkVersion(programIn(env), env, HINT, (said) => `fails: ${said}`),
  open,
}

const HINT =
  'install it with `npm install -g @anthropic-ai/claude-code`, or name the program in STINT_CLAUDE'
function programIn(env: NodeJS.ProcessEnv) {
  return env.STINT_CLAUDE || 'claude'
}

async function open(options: ConversationOptions) {
  const env = claudeEnvironment(options)
  const { cwd, wrap } = options
  const program = spawnGuarded(programIn(env), claudeArguments(options), { cwd, env, wrap })
  return new ClaudeConversation(program, options)
}

const MODES: Readonly<Record<Permissions, string>> = {
  all: 'bypassPermissions',
  edits: 'acceptEdits',
  ask: 'default',
}

export function claudeArguments(open: ConversationOptions): readonly string[] {
  return [
    '-p',
    '--input-format=stream-json',
    '--output-format=stream-json',
    '--verbose',
    // Whole messages carry token placeholders; the partial ones end with the real counts.
    '--include-partial-messages',
    '--permission-prompt-tool=stdio',
    `--permission-mode=${MODES[open.permissions]}`,
    ...keptTools(open),
    ...allowedTools(open),
    ...(open.model === undefined ? [] : ['--model', open.model]),
    ...(open.resume === undefined ? [] : ['--resume', open.resume]),
  ]
}

/**
 * `npm test:*` stops at the end of a word in every version; `npm test*` does not. Git commands are
 * asked about, since their first words do not say what they run.
 */
function allowedTools({ permissions, allow }: ConversationOptions) {
  if (permissions !== 'edits') return []
  const commands = allow.filter(
    (command) => PLAIN.test(command) && shellCommands(command).length === 1,
  )
  return commands.length === 0
    ? []
    : ['--allowedTools', ...commands.map((command) => `Bash(${command.trim()}:*)`)]
}

/** It edits the working tree without asking, so these are denied up front. */
function keptTools({ permissions }: ConversationOptions) {
  if (permissions !== 'edits') return []
  return [
    '--disallowedTools',
    ...PROTECTED_NAMES.flatMap((name) => [`Edit(**/${name})`, `Edit(**/${name}/**)`]),
  ]
}

const PLAIN = /^ *[\w./@+=-]+(?: [\w./@+=-]+)* *$/

/** Variables of an outer Claude Code. */
const OF_ANOTHER =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_ENV_FILE|CLAUDE_PROJECT_DIR|CLAUDE_CODE_(?:ENTRYPOINT|SESSION_ID|SSE_PORT|MESSAGING_\w+))$/

export function claudeEnvironment({ env, permissions }: ConversationOptions): NodeJS.ProcessEnv {
  if (permissions === 'all' && process.getuid?.() === 0 && env.IS_SANDBOX !== '1')
    throw new StintError(
      'ROOT_WITHOUT_SANDBOX',
      'Claude Code does not let root allow everything',
      'run as another user, or with --permissions edits; inside a container that may be broken, set IS_SANDBOX=1',
    )
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_ANOTHER.test(name)))
}
