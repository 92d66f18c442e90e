// What a slash command of a harness runs: `stint slash log`, with the arguments on standard input. So no shell
// reads them, and an apostrophe or a backtick in them is only that.
import type { Context } from './context.ts'
import { splitWords } from './split-words.ts'

/** The commands that take no names, only flags: words that follow a flag there belong to it, quoted or not. */
const FLAGS_ONLY: ReadonlySet<string> = new Set(['init', 'log', 'checkpoint', 'pause', 'close'])

type RunCommandLine = (args: readonly string[], context: Context) => Promise<number>

/** Runs the command, and says everything on standard output, because that is what the model is shown. */
export async function runSlash(args: readonly string[], context: Context, run: RunCommandLine): Promise<number> {
  const conversation = args.find((word) => word.startsWith(CONVERSATION))?.slice(CONVERSATION.length) ?? ''
  const command = args.filter((word) => !word.startsWith(CONVERSATION))
  const words = splitWords(typed(context.readStdin()))
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
    readStdin: () => '',
  })
}

const CONVERSATION = '--conversation='

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
