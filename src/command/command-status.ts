import type { ShellCommand } from './shell-commands.ts'
import { programOf } from './unwrap-command.ts'

/** What the exit status of the whole says about one of its commands. */
export type CommandStatus = 'succeeded' | 'hidden' | 'failed'

/**
 * A later command hides the status of an earlier one, except after `&&`. A pipe into a filter hides
 * it, too.
 */
export function commandStatuses(
  source: string,
  commands: readonly ShellCommand[],
  isError: boolean,
): readonly CommandStatus[] {
  const stopsOnError = /\bset -\w*e/.test(source)
  const keepsPipes = /\bpipefail\b/.test(source)
  const statuses: CommandStatus[] = commands.map(() => 'hidden')
  if (isError) {
    const main = commands.filter((command) => !isIncidental(command))
    const [only] = main
    if (main.length === 1 && only !== undefined) statuses[commands.indexOf(only)] = 'failed'
    return statuses
  }
  for (let at = commands.length - 1; at >= 0; at -= 1) {
    const { before, after } = commands[at]!
    if (after === '&') continue
    const isLast = at === commands.length - 1
    const isChained = after === '&&' && statuses[at + 1] === 'succeeded'
    const isKept = after === '|' && keepsPipes && statuses[at + 1] === 'succeeded'
    const isStopped = after === ';' && (stopsOnError || isLast)
    if ((isLast && after !== '|') || isChained || isKept || isStopped)
      statuses[at] = before === '||' ? 'hidden' : 'succeeded'
    // `x | tee f && y`: the filter succeeded, and says nothing of x.
  }
  return statuses
}

/** Prepares or shows: rarely what failed, and never what matters. */
export function isIncidental({ words, before }: ShellCommand): boolean {
  const program = programOf(words)
  if (before === '|' && FILTERS.has(program)) return true
  if (program === 'git')
    return /^(?:add|status|diff|log|show|rev-parse|branch)$/.test(words[1] ?? '')
  return INCIDENTAL.has(program) || words.length === 0
}

export function isFilter({ words, before }: ShellCommand): boolean {
  return before === '|' && FILTERS.has(programOf(words))
}

const FILTERS = new Set(
  'tail head tee cat sed awk cut sort uniq tr wc less ts nl column grep egrep rg jq xargs'.split(
    ' ',
  ),
)
const INCIDENTAL = new Set(
  (
    'cd pushd popd export set unset source . echo printf true false : exit return sleep mkdir clear pwd date ulimit wait trap ' +
    'ls wc which touch chmod'
  ).split(' '),
)

/** Only shows text that is already there. Its output is not the result of anything. */
export function isReader({ words }: ShellCommand): boolean {
  const program = programOf(words)
  if (program === 'git')
    return /^(?:log|show|diff|grep|blame|status|branch|tag|reflog|shortlog|ls-files|cat-file|remote|config)$/.test(
      words.find((word, index) => index > 0 && !word.startsWith('-')) ?? '',
    )
  if (program === 'gh' || program === 'glab') return true
  return READERS.has(program) || INCIDENTAL.has(program)
}

const READERS = new Set(
  (
    'cat bat less more head tail nl tac grep egrep fgrep rg ag ack find fd tree file stat strings xxd od hexdump diff cmp comm ' +
    'sort uniq cut tr column awk jq yq curl wget http https lynx w3m journalctl dmesg man help docker-logs rm cp mv tee ' +
    'zcat zgrep pbpaste history'
  ).split(' '),
)
