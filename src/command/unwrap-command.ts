import { basename } from 'node:path'
import { type ShellCommand, shellCommands } from './shell-commands.ts'

/**
 * The commands of a line by what they come to: `timeout 60 npx vitest` runs vitest, and `bash -c '…'` what is quoted.
 * What was written keeps all that is needed to run the same again.
 */
export function startedCommands(source: string, depth = 0): readonly ShellCommand[] {
  return shellCommands(source).flatMap((command) => {
    const started = withoutStarters(command)
    const script = depth < 3 ? scriptIn(started.words) : undefined
    return script === undefined ? [started] : inPlaceOf(command, startedCommands(script, depth + 1))
  })
}

/** The name of a program, however it was found. */
export function programOf(words: readonly string[]): string {
  return basename(words[0] ?? '').replace(/\.(?:cmd|exe|bat)$/i, '')
}

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/

function withoutStarters(command: ShellCommand): ShellCommand {
  let { words, written } = command
  let kept: string[] = []
  const skip = (count: number, isKept: boolean) => {
    if (isKept) kept.push(...written.slice(0, count))
    // What starts us is not needed to run the command again; what it finds in its environment is.
    if (programOf(words) === 'stint') kept = kept.filter((word) => ASSIGNMENT.test(word))
    words = words.slice(count)
    written = written.slice(count)
  }
  for (;;) {
    while (ASSIGNMENT.test(words[0] ?? '')) skip(1, true)
    const count = starterLength(words)
    if (count === 0 || count >= words.length)
      return { ...command, words, written: [...kept, ...written] }
    skip(count, !MANNERS.has(programOf(words)))
  }
}

/** Starters that change how a command is run and not what it does. */
const MANNERS = new Set(
  'env time timeout gtimeout nice ionice nohup setsid exec command builtin stdbuf unbuffer caffeinate stint'.split(
    ' ',
  ),
)

/** How many words of a command only start another one. */
function starterLength(words: readonly string[]): number {
  const program = programOf(words)
  const starter = Object.hasOwn(STARTERS, program) ? STARTERS[program]! : undefined
  if (starter === undefined) return 0
  let at = 1
  if (starter.verb !== undefined) {
    at = skipOptions(words, at, starter.valued)
    if (!starter.verb.includes(words[at] ?? '')) return 0
    at += 1
  }
  at = skipOptions(words, at, starter.valued) + (starter.operands ?? 0)
  // `hatch run test` runs a script of that name and not the shell's `test`.
  return words[at] === 'test' && starter.verb !== undefined ? 0 : at
}

function skipOptions(
  words: readonly string[],
  from: number,
  valued: readonly string[] = [],
): number {
  let at = from
  while (at < words.length && words[at]!.startsWith('-')) {
    const option = words[at]!
    at += 1
    if (option === '--') break
    if (valued.includes(option)) at += 1
  }
  return at
}

interface Starter {
  /** The word that has to follow, for a program that does other things as well. */
  readonly verb?: readonly string[]
  /** Options whose value is a word of its own. */
  readonly valued?: readonly string[]
  /** Words between the options and the command. */
  readonly operands?: number
}

const STARTERS: Readonly<Record<string, Starter>> = {
  env: { valued: ['-u', '-C'] },
  time: { valued: ['-f', '-o'] },
  timeout: { valued: ['-s', '--signal', '-k', '--kill-after'], operands: 1 },
  gtimeout: { valued: ['-s', '-k'], operands: 1 },
  sudo: { valued: ['-u', '-g', '-C', '-h', '-p'] },
  doas: { valued: ['-u'] },
  nice: { valued: ['-n'] },
  ionice: { valued: ['-c', '-n'] },
  nohup: {},
  setsid: {},
  exec: {},
  command: {},
  builtin: {},
  stdbuf: { valued: ['-i', '-o', '-e'] },
  unbuffer: {},
  caffeinate: { valued: ['-t', '-w'] },
  'xvfb-run': { valued: ['-n', '-s', '-e', '-f', '--server-args', '--server-num'] },
  npx: { valued: ['-p', '--package', '-w', '--workspace'] },
  bunx: {},
  pnpx: {},
  uvx: { valued: ['--from', '--with', '--python', '-p'] },
  pipx: { verb: ['run'], valued: ['--spec'] },
  npm: { verb: ['exec', 'x'], valued: ['-w', '--workspace', '--prefix', '-C', '-p', '--package'] },
  pnpm: { verb: ['exec', 'dlx'], valued: ['-C', '--dir', '--filter', '-F'] },
  yarn: { verb: ['exec', 'dlx'], valued: ['--cwd'] },
  bun: { verb: ['x'] },
  poetry: { verb: ['run'], valued: ['-C', '--directory', '-P', '--project'] },
  uv: {
    verb: ['run'],
    valued: [
      '--with',
      '--group',
      '--extra',
      '--python',
      '-p',
      '--directory',
      '--project',
      '--package',
      '--env-file',
    ],
  },
  pipenv: { verb: ['run'] },
  pdm: { verb: ['run'], valued: ['-p'] },
  rye: { verb: ['run'] },
  hatch: { verb: ['run'], valued: ['-e', '--env'] },
  conda: { verb: ['run'], valued: ['-n', '--name', '-p', '--prefix'] },
  mamba: { verb: ['run'], valued: ['-n', '--name', '-p', '--prefix'] },
  micromamba: { verb: ['run'], valued: ['-n', '--name', '-p', '--prefix'] },
  bundle: { verb: ['exec'] },
  dotenv: { valued: ['-e', '-f'] },
  dotenvx: { verb: ['run'], valued: ['-f'] },
  'cross-env': {},
  corepack: {},
  direnv: { verb: ['exec'], operands: 1 },
  mise: { verb: ['exec', 'x'] },
  asdf: { verb: ['exec'] },
  doppler: { verb: ['run'], valued: ['-p', '-c'] },
  op: { verb: ['run'], valued: ['--env-file'] },
  c8: { valued: ['-r', '--reporter'] },
  stint: { verb: ['digest'], valued: ['--label', '--tokens'] },
  nyc: { valued: ['-r', '--reporter'] },
  coverage: { verb: ['run'], valued: ['--source', '--rcfile'] },
}

const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh', 'fish'])

/** The script that a command gives to a shell as an argument. */
function scriptIn(words: readonly string[]): string | undefined {
  const program = programOf(words)
  if (program === 'eval') return words.slice(1).join(' ')
  if (program === 'nix-shell' || program === 'nix')
    return words[
      words.findIndex((word) => /^(?:--run|--command|-c)$/.test(word)) + 1 || words.length
    ]
  if (!SHELLS.has(program)) return undefined
  const option = words.findIndex((word, index) => index > 0 && /^-[a-z]*c$/.test(word))
  return option === -1 ? undefined : words[option + 1]
}

function inPlaceOf(
  { before, after }: ShellCommand,
  commands: readonly ShellCommand[],
): readonly ShellCommand[] {
  return commands.map((command, index) => ({
    ...command,
    ...(index === 0 && before !== undefined ? { before } : {}),
    ...(index === commands.length - 1 && after !== undefined ? { after } : {}),
  }))
}
