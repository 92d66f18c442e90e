import { programOf } from './unwrap-command.ts'

/** Whether a command only looks, whatever its options. */
export function isHarmlessCommand(words: readonly string[]): boolean {
  // By its plain name: a program in the working tree may be called anything.
  return words[0]?.includes('/') === false && PLAIN.has(programOf(words))
}

/**
 * Whether a command only looks. An agent whose only way to read a file is a shell would be blind without these. What can
 * write or start something by an option of its own is let through only without that option.
 */
export function isReadingCommand(words: readonly string[]): boolean {
  if (words[0]?.includes('/') !== false) return false
  const program = programOf(words)
  const isSafe = Object.hasOwn(CAREFUL, program) ? CAREFUL[program]! : undefined
  return isSafe?.(words.slice(1)) ?? false
}

const PLAIN = new Set(
  (
    'basename cat cd cmp cut df diff dirname du echo egrep false fgrep grep head id jq ls nl pwd ' +
    'readlink realpath stat tail tr true uname wc which whoami'
  ).split(' '),
)

const CAREFUL: Readonly<Record<string, (args: readonly string[]) => boolean>> = {
  '[': (args) => isTestOfTexts(args),
  test: (args) => isTestOfTexts(args),
  printf: (args) => isTestOfTexts(args),
  command: ([first]) => first === '-v',
  find: (args) => !args.some((arg) => /^-(?:exec|execdir|ok|okdir|delete|fls|fprint.*)$/.test(arg)),
  rg: (args) => !args.some((arg) => /^--(?:pre|hostname-bin)/.test(arg)),
  // Prints lines by their numbers; a script of sed can write and run.
  sed: (args) =>
    args[0] === '-n' &&
    /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(args[1] ?? '') &&
    !args.slice(2).some(isOption),
  sort: (args) => !args.some((arg) => /^-[a-zA-Z]*o|^--(?:o|co)/.test(arg)),
  // A second file is written to.
  uniq: (args) =>
    !args.includes('--') && args.filter((arg) => arg === '-' || !isOption(arg)).length < 2,
}

/** With `-v` a shell takes a text for the name of a variable, and some take texts for sums; both run what stands in them. */
function isTestOfTexts(args: readonly string[]): boolean {
  return !args.some((arg) => /^-v|\$\(|`/.test(arg))
}

function isOption(arg: string): boolean {
  return arg.startsWith('-')
}
