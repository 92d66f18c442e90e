// GitHub issues, as the program gh lists them. Nothing is ever changed there.
import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { isRecord } from '../../backlog/canonical.ts'
import { shorten } from '../../text/clean.ts'
import { type ForeignTask, LONGEST_PASSAGE, readForeign } from './foreign.ts'
import { type Program, runForJson } from './run-program.ts'
import type { BacklogSource } from './source.ts'
import { proseOf, readLabels, takeBoxes } from './tracker-text.ts'

const GH: Program = {
  command: 'gh',
  hint: 'install the GitHub CLI, then gh auth login, in a clone of a repository on GitHub',
}
const KEY = 'github'
const MOST_ISSUES = 1000
const FIELDS = 'number,title,body,labels,createdAt'

/** The open issues of the repository on GitHub. Completing one there is left to people, or to a commit that says `#12`. */
export function githubSource(workspace: Workspace): BacklogSource {
  const surroundings = {
    cwd: workspace.place.root,
    env: { ...workspace.env, GH_PROMPT_DISABLED: '1', NO_COLOR: '1' },
  }
  return {
    name: KEY,
    read: async () => {
      const args = [
        'issue',
        'list',
        '--state',
        'open',
        '--limit',
        String(MOST_ISSUES),
        '--json',
        FIELDS,
      ]
      const issues = issuesOf(await runForJson(GH, args, surroundings))
      const isCut = issues.length >= MOST_ISSUES
      if (isCut) workspace.say(`only the newest ${MOST_ISSUES} open issues were looked at`)
      return readForeign(workspace, KEY, githubTasks(issues, isCut))
    },
    settle: async () => [],
  }
}

export interface GitHubIssue {
  readonly number: number
  readonly title: string
  readonly body: string
  readonly labels: readonly string[]
  readonly createdAt: string
}

function issuesOf(printed: unknown): readonly GitHubIssue[] {
  if (!Array.isArray(printed))
    throw new StintError('PROGRAM_FAILED', 'gh issue list printed no list of issues', GH.hint)
  return printed.filter(isRecord).flatMap(({ number, title, body, labels, createdAt }) => {
    if (!Number.isSafeInteger(number) || Number(number) < 1) return []
    const names = Array.isArray(labels)
      ? labels.map((label) => (isRecord(label) ? textOf(label['name']) : ''))
      : []
    return [
      {
        number: Number(number),
        title: textOf(title),
        body: textOf(body),
        labels: names,
        createdAt: textOf(createdAt),
      },
    ]
  })
}

/** `isCut`: there are more issues than these, so that one which is not among them need not be closed. */
export function githubTasks(issues: readonly GitHubIssue[], isCut = false): readonly ForeignTask[] {
  const open = new Set(issues.map(({ number }) => number))
  const parents = new Map<number, number>()
  for (const { number, body } of issues) {
    for (const part of partsIn(body))
      if (open.has(part) && part !== number && !parents.has(part)) parents.set(part, number)
  }
  // The list has the newest first; the oldest has waited longest.
  const byAge = issues.toSorted((a, b) => a.number - b.number)
  return byAge.map(({ number, title, body, labels, createdAt }) => {
    const { checklist, rest } = takeBoxes(body, (item) => PART.test(item))
    const waits = dependenciesIn(body).filter((other) => other !== number)
    const unseen = isCut
      ? waits.filter((other) => !open.has(other)).map((other) => `#${other}`)
      : []
    const parent = parents.get(number)
    return {
      own: String(number),
      name: `gh-${number}`,
      title: title || `#${number}`,
      description: cutAt(rest, number),
      checklist,
      ...readLabels(labels),
      dependsOn: [...waits.filter((other) => open.has(other)).map(String), ...unseen],
      ...(parent === undefined ? {} : { parent: String(parent) }),
      ...(Number.isNaN(Date.parse(createdAt)) ? {} : { createdAt }),
    }
  })
}

// `- [ ] #12`, with or without words behind it: another issue, and a part of this one.
const PART = /^#(\d{1,9})\b/

function partsIn(body: string): readonly number[] {
  return takeBoxes(body).checklist.flatMap(({ item }) => {
    const number = PART.exec(item)?.[1]
    return number === undefined ? [] : [Number(number)]
  })
}

const WAITS = /\b(?:depends on|blocked by)\b/gi
const DENIED = /\b(?:not|no longer)\s+$/i
const REFERENCE = /(?:[\s,;:&*+-]|\band\b|\[[ xX]\])*#(\d{1,9})\b/iy

/** The issues of this repository that a body says it depends on or is blocked by: `Depends on #12, #13 and #14`. */
export function dependenciesIn(body: string): readonly number[] {
  const prose = proseOf(body)
  const found = new Set<number>()
  for (const { index, 0: words } of prose.matchAll(WAITS)) {
    // Looked at from here and not within the pattern, which would look back from every character of a long text.
    if (DENIED.test(prose.slice(Math.max(0, index - 20), index))) continue
    REFERENCE.lastIndex = index + words.length
    for (let match = REFERENCE.exec(prose); match !== null; match = REFERENCE.exec(prose))
      found.add(Number(match[1]))
  }
  return [...found]
}

function cutAt(text: string, number: number): string {
  const note = `\n\n(cut here; the whole is in issue #${number})`
  return text.length <= LONGEST_PASSAGE
    ? text
    : `${shorten(text, LONGEST_PASSAGE - note.length)}${note}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
