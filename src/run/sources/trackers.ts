import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { isRecord, joined } from '../../backlog/task.ts'
import { StintError } from '../../journal/errors.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import {
  type BacklogSource,
  type ForeignTask,
  LONGEST_PASSAGE,
  isOwnId,
  readForeign,
} from './foreign.ts'
import { type Program, runForJson, runProgram } from './run-program.ts'
import { numberedPriority, proseOf, readLabels, takeBoxes } from './markdown.ts'
import { defined } from '../../text/defined.ts'

// Beads (https://github.com/steveyegge/beads) keeps issues in a database of its own, which only its program reads.

const BD: Program = {
  command: 'bd',
  hint: 'install beads and run bd init, or see with bd ready what it says',
}
const BEADS = 'beads'
const LONGEST_REASON = 500

/** Issues of beads. A task that is completed is closed there. */
export function beadsSource(workspace: Workspace): BacklogSource {
  const { root } = workspace.place
  // Arrays come bare or in an envelope, as the version has it; both are read, and this asks for the old one.
  const surroundings = {
    cwd: root,
    env: { ...workspace.env, BD_JSON_ENVELOPE: '0', NO_COLOR: '1' },
  }
  const issues = async (...args: readonly string[]) =>
    beadsIssues(args[0]!, await runForJson(BD, args, surroundings))
  return {
    name: BEADS,
    read: async () => {
      // One after the other: its database takes one process at a time.
      const ready = await issues('ready', '--json', '--limit', '0')
      const open = await issues('list', '--json', '--limit', '0')
      return readForeign(
        workspace,
        BEADS,
        beadsTasks(ready, open, (line) => workspace.say(line)),
      )
    },
    settle: async (task, summary) => {
      const reason =
        shorten(oneLine(withoutSecrets(summary, workspace.config)), LONGEST_REASON) || 'done'
      await runProgram(
        BD,
        ['close', task.id.slice(BEADS.length + 1), `--reason=${reason}`],
        surroundings,
      )
      return []
    },
  }
}

export interface BeadsIssue {
  readonly id: string
  readonly title: string
  readonly texts: {
    readonly [K in 'description' | 'design' | 'acceptance_criteria' | 'notes']: string
  }
  readonly status: string
  readonly priority: unknown
  readonly type: string
  readonly labels: readonly string[]
  readonly dependencies: readonly { readonly on: string; readonly type: string }[]
  readonly createdAt: string
}

function beadsIssues(verb: string, printed: unknown): readonly BeadsIssue[] {
  const list = isRecord(printed) ? (printed['data'] ?? printed['issues']) : printed
  if (!Array.isArray(list))
    throw new StintError('PROGRAM_FAILED', `bd ${verb} printed no list of issues`, BD.hint)
  return list.filter(isRecord).map((issue) => ({
    id: textOf(issue['id']),
    title: textOf(issue['title']),
    texts: {
      description: textOf(issue['description']),
      design: textOf(issue['design']),
      acceptance_criteria: textOf(issue['acceptance_criteria']),
      notes: textOf(issue['notes']),
    },
    status: textOf(issue['status']),
    priority: issue['priority'],
    type: textOf(issue['issue_type']),
    labels: listOf(issue['labels']).map(textOf),
    dependencies: listOf(issue['dependencies'])
      .filter(isRecord)
      .map((dependency) => ({
        on: textOf(dependency['depends_on_id']),
        type: textOf(dependency['type']),
      })),
    createdAt: textOf(issue['created_at']),
  }))
}

// They hold work together or wait for something; there is nothing in them to do.
const NOT_WORK = new Set(['epic', 'milestone', 'molecule', 'gate', 'message', 'event'])
const WAITING = new Set(['blocks', 'conditional-blocks', 'waits-for'])

/** What beads calls ready is; what it does not is waiting for tasks of this backlog, or for something only beads knows. */
export function beadsTasks(
  ready: readonly BeadsIssue[],
  open: readonly BeadsIssue[],
  say: (line: string) => void,
): readonly ForeignTask[] {
  const all = new Map([...open, ...ready].map((issue) => [issue.id, issue]))
  const isReady = new Set(ready.map(({ id }) => id))
  const work = new Map(
    [...all].filter(([, issue]) => !NOT_WORK.has(issue.type) && issue.status !== 'closed'),
  )
  for (const id of work.keys()) {
    if (isOwnId(id)) continue
    work.delete(id)
    say(
      `beads has an issue with the id ${JSON.stringify(shorten(oneLine(id), 60))}, which was left out`,
    )
  }
  return [...work.values()].map((issue) => {
    const { id, title, texts } = issue
    const waits = issue.dependencies
      .filter(({ type, on }) => WAITING.has(type) && work.has(on))
      .map(({ on }) => on)
    const parent = issue.dependencies.find(({ type }) => type === 'parent-child')?.on
    const whole = parent === undefined || work.has(parent) ? undefined : all.get(parent)
    const description = takeBoxes(texts.description)
    const criteria = takeBoxes(texts.acceptance_criteria)
    const said = readLabels(issue.labels)
    const priority = numberedPriority(issue.priority) ?? said.priority
    const isHeldBack = !isReady.has(id) && (waits.length === 0 || issue.status !== 'open')
    return {
      own: id,
      name: id,
      title: title || id,
      description: description.rest,
      details: joined(
        whole === undefined ? '' : `Part of ${whole.id}: ${oneLine(whole.title)}`,
        under('Design', texts.design),
        under('Acceptance criteria', criteria.rest),
        under('Notes', texts.notes),
      ),
      checklist: [...description.checklist, ...criteria.checklist],
      ...said,
      // Tasks of one epic belong together, though the epic itself is no task.
      labels: [...(whole === undefined ? [] : [whole.id]), ...said.labels],
      ...defined({ priority }),
      dependsOn: waits,
      ...(parent !== undefined && work.has(parent) ? { parent } : {}),
      ...(isHeldBack
        ? {
            status: 'blocked' as const,
            because: `beads does not call it ready (${oneLine(issue.status)})`,
          }
        : {}),
      ...(Number.isNaN(Date.parse(issue.createdAt)) ? {} : { createdAt: issue.createdAt }),
    }
  })
}

function under(heading: string, text: string): string {
  return text.trim() === '' ? '' : `${heading}:\n${text.trim()}`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

// GitHub issues, as the program gh lists them. Nothing is ever changed there.

const GH: Program = {
  command: 'gh',
  hint: 'install the GitHub CLI, then gh auth login, in a clone of a repository on GitHub',
}
const GITHUB = 'github'
const MOST_ISSUES = 1000
const FIELDS = 'number,title,body,labels,createdAt'

/** The open issues of the repository on GitHub. Completing one there is left to people, or to a commit that says `#12`. */
export function githubSource(workspace: Workspace): BacklogSource {
  const surroundings = {
    cwd: workspace.place.root,
    env: { ...workspace.env, GH_PROMPT_DISABLED: '1', NO_COLOR: '1' },
  }
  return {
    name: GITHUB,
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
      const issues = githubIssues(await runForJson(GH, args, surroundings))
      const isCut = issues.length >= MOST_ISSUES
      if (isCut) workspace.say(`only the newest ${MOST_ISSUES} open issues were looked at`)
      return readForeign(workspace, GITHUB, githubTasks(issues, isCut))
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

function githubIssues(printed: unknown): readonly GitHubIssue[] {
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
