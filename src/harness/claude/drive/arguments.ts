import { StintError } from '../../../journal/errors.ts'
import type { OpenConversation, Permissions } from '../../contract/drive.ts'
import { KEPT_NAMES } from '../../../command/inside-tree.ts'
import { shellCommands } from '../../../command/shell-commands.ts'
import { defined } from '../../../text/defined.ts'

const MODES: Readonly<Record<Permissions, string>> = {
  all: 'bypassPermissions',
  edits: 'acceptEdits',
  ask: 'default',
}

/** How Claude Code is started. What is said to it goes through its standard input, where neither lists of processes nor limits see it. */
export function argumentsFor(open: OpenConversation): readonly string[] {
  return [
    '-p',
    '--input-format=stream-json',
    '--output-format=stream-json',
    '--verbose',
    // Whole messages tell of their tokens before these are known; the pieces tell it at the end.
    '--include-partial-messages',
    '--permission-prompt-tool=stdio',
    `--permission-mode=${MODES[open.permissions]}`,
    ...keptTools(open),
    ...allowedTools(open),
    ...(open.model === undefined ? [] : ['--model', open.model]),
    ...(open.resume === undefined ? [] : ['--resume', open.resume]),
  ]
}

/** What is said first: the standing instructions, and that we answer what is asked. */
export function greeting(requestId: string, { systemPrompt }: OpenConversation): object {
  const request = {
    subtype: 'initialize',
    hooks: null,
    ...defined({ appendSystemPrompt: systemPrompt?.toWellFormed() }),
  }
  return { type: 'control_request', request_id: requestId, request }
}

/**
 * Commands that it need not ask us about. `npm test:*` stops at the end of a word, in every version, where `npm test*` goes on
 * into others. Anything that is more than plain words, and might end a rule early, is asked about instead; and so is git, of
 * which no beginning says what it will run.
 */
function allowedTools({ permissions, allow }: OpenConversation): readonly string[] {
  if (permissions !== 'edits') return []
  const commands = allow.filter(
    (command) => PLAIN.test(command) && shellCommands(command).length === 1,
  )
  return commands.length === 0
    ? []
    : ['--allowedTools', ...commands.map((command) => `Bash(${command.trim()}:*)`)]
}

/** It edits in the working tree without a question to us, and so it is told what is not to be edited. */
function keptTools({ permissions }: OpenConversation): readonly string[] {
  if (permissions !== 'edits') return []
  return [
    '--disallowedTools',
    ...KEPT_NAMES.flatMap((name) => [`Edit(**/${name})`, `Edit(**/${name}/**)`]),
  ]
}

const PLAIN = /^ *[\w./@+=-]+(?: [\w./@+=-]+)* *$/

/** Left by a Claude Code around us; one inside it is not its child. */
const OF_ANOTHER =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_ENV_FILE|CLAUDE_PROJECT_DIR|CLAUDE_CODE_(?:ENTRYPOINT|SESSION_ID|SSE_PORT|MESSAGING_\w+))$/

export function environmentFor({ env, permissions }: OpenConversation): NodeJS.ProcessEnv {
  if (permissions === 'all' && process.getuid?.() === 0 && env['IS_SANDBOX'] !== '1')
    throw new StintError(
      'ROOT_WITHOUT_SANDBOX',
      'Claude Code does not let root allow everything',
      'run as another user, or with --permissions edits; inside a container that may be broken, set IS_SANDBOX=1',
    )
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_ANOTHER.test(name)))
}
