// Beads (https://github.com/steveyegge/beads) keeps issues in a database of its own, which only its program reads.
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { isRecord, joined } from '../../backlog/canonical.ts'
import { StintError } from '../../journal/errors.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { type ForeignTask, isOwnId, readForeign } from './foreign.ts'
import { type Program, runForJson, runProgram } from './run-program.ts'
import type { BacklogSource } from './source.ts'
import { numberedPriority, readLabels, takeBoxes } from './tracker-text.ts'
import { defined } from '../../text/defined.ts'

const BD: Program = {
  command: 'bd',
  hint: 'install beads and run bd init, or see with bd ready what it says',
}
const KEY = 'beads'
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
    issuesOf(args[0]!, await runForJson(BD, args, surroundings))
  return {
    name: KEY,
    read: async () => {
      // One after the other: its database takes one process at a time.
      const ready = await issues('ready', '--json', '--limit', '0')
      const open = await issues('list', '--json', '--limit', '0')
      return readForeign(
        workspace,
        KEY,
        beadsTasks(ready, open, (line) => workspace.say(line)),
      )
    },
    settle: async (task, summary) => {
      const reason =
        shorten(oneLine(withoutSecrets(summary, workspace.config)), LONGEST_REASON) || 'done'
      await runProgram(
        BD,
        ['close', task.id.slice(KEY.length + 1), `--reason=${reason}`],
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

function issuesOf(verb: string, printed: unknown): readonly BeadsIssue[] {
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
