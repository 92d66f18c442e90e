// How commits are written here, by the last ones.
import type { Repository } from '../../git/repository.ts'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { shorten } from '../../text/clean.ts'
import type { Finding } from './finding.ts'

const LOOKED_AT = 50
const FEWEST = 5
/** From which share on a way of writing is the way of the house. */
const USUAL = 0.6
/** An example is there to be glanced at. */
const LONGEST = 60

const STYLES: readonly (readonly [style: string, subject: RegExp])[] = [
  [
    'Conventional Commits (`type(scope): subject`)',
    /^(?:feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert|wip)(?:\([^)]+\))?!?: \S/,
  ],
  ['`area: subject`', /^[\w./,{}*-]+(?:[ /][\w./-]+)?: \S/],
  ['`[area] subject`', /^\[[^\]]+\] ?\S/],
  ['`KEY-123 subject`', /^[A-Z][A-Z0-9]+-\d+\b/],
  ['`:emoji: subject`', /^(?::\w+:|\p{Extended_Pictographic})/u],
  ['a capitalised sentence', /^[A-Z][^:]*$/],
  ['a sentence in small letters', /^[a-z][^:]*$/],
]

/** The subjects of the last commits, the newest first. */
export function lastSubjects({ worktree }: Repository): readonly string[] {
  const format = ['--no-merges', '--no-show-signature', '--encoding=UTF-8', '--format=%s']
  try {
    return runGit(worktree, ['log', `--max-count=${LOOKED_AT}`, ...format])
      .split('\n')
      .filter(Boolean)
  } catch (error) {
    // A branch without a commit has no history to speak of.
    if (error instanceof GitFailed) return []
    throw error
  }
}

/** The way most of them are written, with how many, and the newest as an example. */
export function commitFindings(subjects: readonly string[]): readonly Finding[] {
  if (subjects.length < FEWEST) return []
  const from = 'git log'
  const usual = STYLES.map(([style, pattern]) => ({
    style,
    fitting: subjects.filter((subject) => pattern.test(subject)),
  })).find(({ fitting }) => fitting.length / subjects.length >= USUAL)
  if (usual === undefined) return []
  const { style, fitting } = usual
  const share =
    fitting.length === subjects.length
      ? `all of the last ${subjects.length}`
      : `${fitting.length} of the last ${subjects.length}`
  const example = shorten(
    fitting.find((subject) => subject.length <= LONGEST) ?? fitting[0]!,
    LONGEST,
  )
  return [{ topic: 'commits', text: `${style}, ${share}; e.g. "${example}"`, from }]
}
