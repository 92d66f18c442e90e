// What a slash command of a harness runs: `stint slash log`, with the arguments on standard input. So no shell
// reads them, and an apostrophe or a backtick in them is only that.
import { StintError } from '../public.ts'
import { type CliContext, EXIT, describeError } from './context/context.ts'

/** The commands that take no names, only flags: words that follow a flag there belong to it, quoted or not. */
const FLAGS_ONLY: ReadonlySet<string> = new Set([
  'init',
  'log',
  'checkpoint',
  'handoff',
  'pause',
  'close',
])

type RunCommandLine = (args: readonly string[], context: CliContext) => Promise<number>

/** Runs the command, and says everything on standard output, because that is what the model is shown. */
export async function runSlash(
  args: readonly string[],
  context: CliContext,
  run: RunCommandLine,
): Promise<number> {
  const conversation = valueOf(CONVERSATION, args) ?? ''
  const command = args.filter(
    (word) => !word.startsWith(CONVERSATION) && !word.startsWith(LAST_LINE),
  )
  const input = wholeInput(await context.readStdin(), valueOf(LAST_LINE, args))
  if (input === undefined) {
    context.process.stdout.write(`${describeError(new CutShort(command.join(' ')))}\n`)
    // What fails is shown to nobody but the user, and the line that cannot fail was cut off as well.
    return EXIT.ok
  }
  const words = splitWords(typed(input))
  const given = FLAGS_ONLY.has(command[0] ?? '') ? joinValues(words) : words
  const { env, process } = context
  return run([...command, ...given], {
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

const CONVERSATION = '--conversation='
const LAST_LINE = '--last-line='

function valueOf(flag: string, args: readonly string[]): string | undefined {
  return args.find((word) => word.startsWith(flag))?.slice(flag.length)
}

/** What stands before the last line; undefined when that is not the last, or not the only one of its kind. */
function wholeInput(input: string, last: string | undefined): string | undefined {
  if (last === undefined) return input
  const lines = input.trimEnd().split('\n')
  return lines.indexOf(last) === lines.length - 1 ? lines.slice(0, -1).join('\n') : undefined
}

class CutShort extends StintError {
  override readonly name = 'CutShort'
  constructor(command: string) {
    super(
      'CUT_SHORT',
      'the arguments came cut short: they hold a code fence, or a mark of the slash command itself. Nothing was done or recorded',
      `run it in the shell instead, with the whole text: stint ${command}`,
    )
  }
}

/** Old clients leave the name of the arguments when there are none; new ones guard a leading `!`. */
function typed(input: string): string {
  return input.trim() === '$ARGUMENTS' ? '' : input.replaceAll(/(^|\s)\\!/g, '$1!')
}

function joinValues(words: readonly string[]): readonly string[] {
  const joined: string[] = []
  for (const word of words) {
    const isValue = !word.startsWith('--') && joined.some((each) => each.startsWith('--'))
    const before = joined.at(-1)
    // The first word of a value stands by itself, those after it are joined to it.
    if (isValue && before !== undefined && (!before.startsWith('--') || before.includes('=')))
      joined.push(`${joined.pop()!} ${word}`)
    else joined.push(word)
  }
  return joined
}

/**
 * The words of a command line that was typed in prose rather than in a shell: quotes hold words together, and
 * nothing else has a meaning. A quote opens only where a word or the value of a flag begins, and closes only where
 * one ends, so that an apostrophe is an apostrophe.
 */
export function splitWords(line: string): readonly string[] {
  // A backslash before the end of a line goes on with the next one.
  const text = line.replaceAll(/\\\r?\n/g, ' ')
  return [...text.matchAll(WORD)].map(([, flag = '', double, single, bare = '']) => {
    if (double !== undefined) return flag + double.replaceAll(/\\(["\\$`])/g, '$1')
    return flag + (single ?? bare)
  })
}

const WORD =
  /(--[\w-]+=)?(?:"((?:[^"\\]|\\.|"(?!\s|$))*)"(?=\s|$)|'((?:[^']|'(?!\s|$))*)'(?=\s|$)|(\S+))/gs
