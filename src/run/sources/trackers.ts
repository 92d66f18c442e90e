// Issues of trackers, read through their programs: beads (https://github.com/steveyegge/beads) and GitHub.
import { isRecord, joinPassages } from '../../backlog/task.ts'
import { StintError } from '../../journal/errors.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { asArray } from '../../text/json-fields.ts'
import {
  type ExternalTask,
  LONGEST_PASSAGE,
  isExternalId,
  readExternalBacklog,
} from './external-tasks.ts'
import type { BacklogSource } from './backlog-source.ts'
import { extractChecklist, numberedPriority, readLabels, stripCodeAndComments } from './markdown.ts'
import { GH, type Program, ghEnvironment, runExternalProgram, runForJson } from './run-program.ts'

const BD: Program = {
  command: 'bd',
  hint: 'install beads and run bd init, or see with bd ready what it says',
}
const BEADS = 'beads'

export function beadsSource(workspace: Workspace): BacklogSource {
  // Depending on the version, lists come bare or in an envelope. This asks for bare ones; both are read.
  const env = { ...workspace.env, BD_JSON_ENVELOPE: '0', NO_COLOR: '1' }
  const where = { cwd: workspace.paths.root, env }
  const list = async (verb: string) =>
    beadsIssues(verb, await runForJson(BD, [verb, '--json', '--limit', '0'], where))
  return {
    name: BEADS,
    read: async () => {
      // Sequentially, because its database allows one process at a time.
      const ready = await list('ready')
      const open = await list('list')
      const tasks = beadsTasks(ready, open, (line) => workspace.say(line))
      return readExternalBacklog(workspace, BEADS, tasks)
    },
    complete: async (task, summary) => {
      const reason = shorten(oneLine(withoutSecrets(summary, workspace.config)), 500) || 'done'
      const own = task.id.slice(BEADS.length + 1)
      await runExternalProgram(BD, ['close', own, `--reason=${reason}`], where)
      return []
    },
  }
}

type Issue = Readonly<Record<string, unknown>>

function beadsIssues(verb: string, printed: unknown): readonly Issue[] {
  const list = isRecord(printed) ? (printed['data'] ?? printed['issues']) : printed
  if (Array.isArray(list)) return list.filter(isRecord)
  throw new StintError('PROGRAM_FAILED', `bd ${verb} printed no list of issues`, BD.hint)
}

// These issue types only group work or wait for something.
const NOT_WORK = new Set(['epic', 'milestone', 'molecule', 'gate', 'message', 'event'])
const WAITING = new Set(['blocks', 'conditional-blocks', 'waits-for'])

/** An issue that beads does not call ready waits for a task of this backlog, or for something only beads knows. */
function beadsTasks(
  ready: readonly Issue[],
  open: readonly Issue[],
  say: (line: string) => void,
): readonly ExternalTask[] {
  const all = new Map([...open, ...ready].map((issue) => [textOf(issue['id']), issue]))
  const isReady = new Set(ready.map((issue) => textOf(issue['id'])))
  const work = new Map(
    [...all].filter(
      ([, issue]) => !NOT_WORK.has(textOf(issue['issue_type'])) && issue['status'] !== 'closed',
    ),
  )
  for (const id of work.keys()) {
    if (isExternalId(id)) continue
    work.delete(id)
    const shown = JSON.stringify(shorten(oneLine(id), 60))
    say(`beads has an issue with the id ${shown}, which was left out`)
  }
  return [...work].map(([id, issue]) => {
    const text = (field: string) => textOf(issue[field])
    const status = text('status')
    const dependencies = asArray(issue['dependencies'])
      .filter(isRecord)
      .map(({ depends_on_id: on, type }) => ({ on: textOf(on), type: textOf(type) }))
    const dependsOn = dependencies
      .filter(({ type, on }) => WAITING.has(type) && work.has(on))
      .map(({ on }) => on)
    const above = dependencies.find(({ type }) => type === 'parent-child')?.on
    const parent = above !== undefined && work.has(above) ? above : undefined
    const epic = above === undefined || parent !== undefined ? undefined : all.get(above)
    const description = extractChecklist(text('description'))
    const criteria = extractChecklist(text('acceptance_criteria'))
    const labelled = readLabels(asArray(issue['labels']).map(textOf))
    const priority = numberedPriority(issue['priority'])
    const isHeldBack = !isReady.has(id) && (dependsOn.length === 0 || status !== 'open')
    const because = `beads does not call it ready (${oneLine(status)})`
    return {
      own: id,
      name: id,
      title: text('title') || id,
      description: description.rest,
      details: joinPassages(
        epic === undefined ? '' : `Part of ${above}: ${oneLine(textOf(epic['title']))}`,
        withHeading('Design', text('design')),
        withHeading('Acceptance criteria', criteria.rest),
        withHeading('Notes', text('notes')),
      ),
      checklist: [...description.checklist, ...criteria.checklist],
      ...labelled,
      // Tasks of one epic are related, though the epic itself is no task.
      labels: [...(epic === undefined ? [] : [above!]), ...labelled.labels],
      dependsOn,
      ...defined({ priority, parent, createdAt: dateOf(text('created_at')) }),
      ...(isHeldBack ? { status: 'blocked' as const, because } : {}),
    }
  })
}

function withHeading(heading: string, text: string) {
  return text.trim() === '' ? '' : `${heading}:\n${text.trim()}`
}

const GITHUB = 'github'
const MOST_ISSUES = 1000

/** Reads the open issues and never changes them: the user closes them, or a commit that mentions `#12`. */
export function githubSource(workspace: Workspace): BacklogSource {
  return {
    name: GITHUB,
    read: async () => {
      const fields = 'number,title,body,labels,createdAt'
      const list = ['issue', 'list', '--state', 'open', '--limit', String(MOST_ISSUES)]
      const printed = await runForJson(GH, [...list, '--json', fields], ghEnvironment(workspace))
      const issues = githubIssues(printed)
      const isCut = issues.length >= MOST_ISSUES
      if (isCut) workspace.say(`only the newest ${MOST_ISSUES} open issues were looked at`)
      return readExternalBacklog(workspace, GITHUB, githubTasks(issues, isCut))
    },
    complete: async () => [],
  }
}

type GitHubIssue = ReturnType<typeof githubIssues>[number]

function githubIssues(printed: unknown) {
  if (!Array.isArray(printed))
    throw new StintError('PROGRAM_FAILED', 'gh issue list printed no list of issues', GH.hint)
  return printed
    .filter(isRecord)
    .map(({ number, title, body, labels, createdAt }) => ({
      number: Number(number),
      title: textOf(title),
      body: textOf(body),
      labels: asArray(labels).map((label) => (isRecord(label) ? textOf(label['name']) : '')),
      createdAt: textOf(createdAt),
    }))
    .filter(({ number }) => Number.isSafeInteger(number) && number >= 1)
}

/** `isCut`: there are more issues, so a missing one is not necessarily closed. */
export function githubTasks(
  issues: readonly GitHubIssue[],
  isCut = false,
): readonly ExternalTask[] {
  const open = new Set(issues.map(({ number }) => number))
  const parents = new Map<number, number>()
  for (const { number, body } of issues) {
    for (const { item } of extractChecklist(body).checklist) {
      const part = Number(PART.exec(item)?.[1])
      if (open.has(part) && part !== number && !parents.has(part)) parents.set(part, number)
    }
  }
  // Oldest first, because it has waited longest.
  const byAge = issues.toSorted((a, b) => a.number - b.number)
  return byAge.map(({ number, title, body, labels, createdAt }) => {
    const { checklist, rest } = extractChecklist(body, (item) => PART.test(item))
    const waits = dependenciesIn(body).filter((other) => other !== number)
    const unseen = isCut ? waits.filter((other) => !open.has(other)) : []
    const parent = parents.get(number)?.toString()
    return {
      own: String(number),
      name: `gh-${number}`,
      title: title || `#${number}`,
      description: cutAt(rest, number),
      checklist,
      ...readLabels(labels),
      dependsOn: [
        ...waits.filter((other) => open.has(other)).map(String),
        ...unseen.map((other) => `#${other}`),
      ],
      ...defined({ parent, createdAt: dateOf(createdAt) }),
    }
  })
}

// `- [ ] #12`, with or without text after it, makes that issue a part of this one.
const PART = /^#(\d{1,9})\b/
const WAITS = /\b(?:depends on|blocked by)\b/gi
const DENIED = /\b(?:not|no longer)\s+$/i
const REFERENCE = /(?:[\s,;:&*+-]|\band\b|\[[ xX]\])*#(\d{1,9})\b/iy

/** `Depends on #12, #13 and #14`. */
export function dependenciesIn(body: string): readonly number[] {
  const prose = stripCodeAndComments(body)
  const found = new Set<number>()
  for (const { index, 0: words } of prose.matchAll(WAITS)) {
    // Checked outside the pattern, where a lookbehind would be slow on long texts.
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

function dateOf(text: string) {
  return Number.isNaN(Date.parse(text)) ? undefined : text
}

function textOf(value: unknown) {
  return typeof value === 'string' ? value : ''
}
