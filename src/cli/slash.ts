// A harness's slash command runs `stint slash log` with the arguments on stdin. So no shell
// interprets an apostrophe or a backtick in them.
import { StintError } from '../public/projection.ts'
import { type CliContext, EXIT, describeError } from './context/context.ts'

/** Commands without positional arguments: words after a flag belong to the flag, quoted or not. */
const FLAGS_ONLY: ReadonlySet<string> = new Set([
  'init',
  'log',
  'checkpoint',
  'handoff',
  'pause',
  'close',
])

type RunCommandLine = (args: readonly string[], context: CliContext) => Promise<number>

/** Runs the command with all output on stdout, because the model sees only that. */
export async function runSlash(
  args: readonly string[],
  context: CliContext,
  run: RunCommandLine,
): Promise<number> {
  const conversation = flagValue(CONVERSATION_FLAG, args) ?? ''
  const command = args.filter(
    (word) => !word.startsWith(CONVERSATION_FLAG) && !word.startsWith(END_MARKER),
  )
  const input = inputBeforeMarker(await context.readStdin(), flagValue(END_MARKER, args))
  if (input === undefined) {
    context.process.stdout.write(`${describeError(new TruncatedInput(command.join(' ')))}\n`)
    // A failing slash command is shown only to the user, so the model would not see this message.
    return EXIT.ok
  }
  const words = splitWords(unescapeInput(input))
  const commandArgs = FLAGS_ONLY.has(command[0] ?? '') ? joinFlagValues(words) : words
  const { env, process } = context
  return run([...command, ...commandArgs], {
    process: { ...process, stderr: process.stdout, stdout: process.stdout },
    get cwd() {
      return context.cwd
    },
    env: conversation === '' ? env : { ...env, STINT_CONVERSATION: conversation },
    canAsk: false,
    hasColour: false,
    readStdin: async () => '',
  })
}

const CONVERSATION_FLAG = '--conversation='
const END_MARKER = '--last-line='

function flagValue(flag: string, args: readonly string[]): string | undefined {
  return args.find((word) => word.startsWith(flag))?.slice(flag.length)
}

/** The input before the end marker; undefined unless the marker occurs once, as the last line. */
function inputBeforeMarker(input: string, last: string | undefined): string | undefined {
  if (last === undefined) return input
  const lines = input.trimEnd().split('\n')
  return lines.indexOf(last) === lines.length - 1 ? lines.slice(0, -1).join('\n') : undefined
}

class TruncatedInput extends StintError {
  override readonly name = 'TruncatedInput'
  constructor(command: string) {
    super(
      'CUT_SHORT',
      'the arguments came cut short: they hold a code fence, or a mark of the slash command itself. Nothing was done or recorded',
      `run it in the shell instead, with the whole text: stint ${command}`,
    )
  }
}

/** Old clients pass the literal `$ARGUMENTS` when there are none; new ones escape a leading `!`. */
function unescapeInput(input: string): string {
  return input.trim() === '$ARGUMENTS' ? '' : input.replaceAll(/(^|\s)\\!/g, '$1!')
}

function joinFlagValues(words: readonly string[]): readonly string[] {
  const joined: string[] = []
  for (const word of words) {
    const isValue = !word.startsWith('--') && joined.some((each) => each.startsWith('--'))
    const before = joined.at(-1)
    // The first word of a value starts a new item, and the following ones are joined to it.
    if (isValue && before !== undefined && (!before.startsWith('--') || before.includes('=')))
      joined.push(`${joined.pop()!} ${word}`)
    else joined.push(word)
  }
  return joined
}

/**
 * Splits a command line that was typed as prose, not in a shell: only quotes are special. A quote opens only at the
 * start of a word or flag value and closes only at its end, so that an apostrophe stays an apostrophe.
 */
export function splitWords(line: string): readonly string[] {
  // A backslash at the end of a line continues it.
  const text = line.replaceAll(/\\\r?\n/g, ' ')
  return [...text.matchAll(WORD)].map(([, flag = '', double, single, unquoted = '']) => {
    if (double !== undefined) return flag + double.replaceAll(/\\(["\\$`])/g, '$1')
    return flag + (single ?? unquoted)
  })
}

const WORD =
  /(--[\w-]+=)?(?:"((?:[^"\\]|\\.|"(?!\s|$))*)"(?=\s|$)|'((?:[^']|'(?!\s|$))*)'(?=\s|$)|(\S+))/gs
