import { basename } from 'node:path'
import { lazily } from '../text/lazily.ts'
import { type ShellCommand, shellCommands } from './shell-commands.ts'

/**
 * Unwraps starters: `timeout 60 npx vitest` runs vitest. `written` keeps what is needed to run the
 * command again.
 */
export function unwrapCommands(source: string, depth = 0): readonly ShellCommand[] {
  return shellCommands(source).flatMap((command, place): readonly ShellCommand[] => {
    const started = withoutStarters(command)
    const script = depth < 3 ? scriptIn(started.words) : undefined
    if (script === undefined) return [started]
    const inside = unwrapCommands(script, depth + 1)
    const { before, after, redirections = [], subshells = [] } = command
    const isLast = (index: number) => index === inside.length - 1
    // A shell started for a script keeps its folder to itself, like a subshell.
    const number = 1000 * (depth + 1) + place
    return inside.map((each, index) => ({
      ...each,
      ...(index === 0 && before !== undefined ? { before } : {}),
      ...(isLast(index) && after !== undefined ? { after } : {}),
      ...(isLast(index) && redirections.length > 0
        ? { redirections: [...(each.redirections ?? []), ...redirections] }
        : {}),
      subshells: [...subshells, number, ...(each.subshells ?? [])],
    }))
  })
}

export function programOf(words: readonly string[]): string {
  return basename(words[0] ?? '').replace(/\.(?:cmd|exe|bat)$/i, '')
}

export const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/

function withoutStarters(command: ShellCommand) {
  let { words, written } = command
  let prefix: string[] = []
  const skip = (count: number, isNeeded: boolean) => {
    if (isNeeded) prefix.push(...written.slice(0, count))
    // `stint digest` is not needed to run the command again; its environment is.
    if (programOf(words) === 'stint') prefix = prefix.filter((word) => ASSIGNMENT.test(word))
    words = words.slice(count)
    written = written.slice(count)
  }
  for (;;) {
    while (ASSIGNMENT.test(words[0] ?? '')) skip(1, true)
    const count = starterLength(words)
    if (count === 0 || count >= words.length)
      return { ...command, words, written: [...prefix, ...written] }
    skip(count, !DROPPED_STARTERS.includes(` ${programOf(words)} `))
  }
}

const DROPPED_STARTERS =
  ' env time timeout gtimeout nice ionice nohup setsid exec command builtin stdbuf unbuffer caffeinate stint '

function starterLength(words: readonly string[]) {
  const starter = STARTERS().get(programOf(words))
  if (starter === undefined) return 0
  const [valued, verbs, operands] = starter
  let at = 1
  if (verbs !== '') {
    at = skipOptions(words, at, valued)
    if (!verbs.split(' ').includes(words[at] ?? '')) return 0
    at += 1
  }
  at = skipOptions(words, at, valued) + operands
  // `hatch run test` runs a script named test, not the shell builtin.
  return words[at] === 'test' && verbs !== '' ? 0 : at
}

function skipOptions(words: readonly string[], from: number, valued: string) {
  let at = from
  while (at < words.length && words[at]!.startsWith('-')) {
    const option = words[at]!
    at += 1
    if (option === '--') break
    if (valued.split(' ').includes(option)) at += 1
  }
  return at
}

/** Programs; options with a value; required verbs; words before the command. */
const STARTER_TABLE: readonly (readonly [string, valued?: string, verbs?: string, n?: number])[] = [
  ['nohup setsid exec command builtin unbuffer bunx pnpx cross-env corepack'],
  ['env', '-u -C'],
  ['time', '-f -o'],
  ['timeout', '-s --signal -k --kill-after', '', 1],
  ['gtimeout', '-s -k', '', 1],
  ['sudo', '-u -g -C -h -p'],
  ['doas', '-u'],
  ['nice', '-n'],
  ['ionice', '-c -n'],
  ['stdbuf', '-i -o -e'],
  ['caffeinate', '-t -w'],
  ['xvfb-run', '-n -s -e -f --server-args --server-num'],
  ['npx', '-p --package -w --workspace'],
  ['uvx', '--from --with --python -p'],
  ['pipx', '--spec', 'run'],
  ['npm', '-w --workspace --prefix -C -p --package', 'exec x'],
  ['pnpm', '-C --dir --filter -F', 'exec dlx'],
  ['yarn', '--cwd', 'exec dlx'],
  ['bun', '', 'x'],
  ['poetry', '-C --directory -P --project', 'run'],
  ['uv', '--with --group --extra --python -p --directory --project --package --env-file', 'run'],
  ['pipenv rye', '', 'run'],
  ['pdm', '-p', 'run'],
  ['hatch', '-e --env', 'run'],
  ['conda mamba micromamba', '-n --name -p --prefix', 'run'],
  ['bundle asdf', '', 'exec'],
  ['dotenv', '-e -f'],
  ['dotenvx', '-f', 'run'],
  ['direnv', '', 'exec', 1],
  ['mise', '', 'exec x'],
  ['doppler', '-p -c', 'run'],
  ['op', '--env-file', 'run'],
  ['c8 nyc', '-r --reporter'],
  ['stint', '--label --tokens', 'digest'],
  ['coverage', '--source --rcfile', 'run'],
]

// Built lazily: every hook loads this, and few see a command.
const STARTERS = lazily(
  () =>
    new Map(
      STARTER_TABLE.flatMap(([programs, valued = '', verbs = '', operands = 0]) =>
        programs
          .split(' ')
          .map((program) => [program, [valued, verbs, operands] as const] as const),
      ),
    ),
)

const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh', 'fish'])

function scriptIn(words: readonly string[]) {
  const program = programOf(words)
  if (program === 'eval') return words.slice(1).join(' ')
  const option =
    program === 'nix-shell' || program === 'nix'
      ? words.findIndex((word) => /^(?:--run|--command|-c)$/.test(word))
      : words.findIndex((word, at) => at > 0 && SHELLS.has(program) && /^-[a-z]*c$/.test(word))
  return option === -1 ? undefined : words[option + 1]
}
