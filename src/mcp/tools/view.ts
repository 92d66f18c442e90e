import type { Reading } from '../../library.ts'
import {
  type PublicSession,
  type SessionRow,
  publicEntries,
  publicSession,
  shortId,
} from '../../public.ts'
import { defined } from '../../text/defined.ts'
import { clip, latestWithin } from './bounds.ts'
import type { Answer, Tool } from './tool.ts'

const PARTS = [
  'overview',
  'progress',
  'decisions',
  'discoveries',
  'blockers',
  'next',
  'entries',
  'activity',
  'sessions',
] as const
type Part = (typeof PARTS)[number]

const USUAL_TOKENS = 2000
const LEAST_TOKENS = 300
const MOST_TOKENS = 8000
const MOST_SESSIONS = 100
const LONGEST_ITEM = 2000

export const view: Tool = {
  name: 'view',
  description: 'Show a session, a part of it, or all sessions.',
  effect: 'reads',
  inputSchema: {
    type: 'object',
    properties: {
      part: { type: 'string', enum: PARTS },
      session: { type: 'string', description: 'id or name' },
      tokens: { type: 'integer' },
    },
  },
  async run({ project }, args) {
    const part = (args.part ?? 'overview') as Part
    const session = args.session as string | undefined
    const tokens = Math.min(
      Math.max((args.tokens as number | undefined) ?? USUAL_TOKENS, LEAST_TOKENS),
      MOST_TOKENS,
    )
    if (part === 'overview') {
      const { text, leftOut } = await project.pack({
        budget: tokens,
        ...defined({ session }),
      })
      return { value: { text, leftOut: leftOut.length === 0 ? undefined : leftOut }, text }
    }
    if (part === 'sessions') {
      const rows = [...(await project.list({ limit: MOST_SESSIONS }))]
      return listed(part, tokens, {}, rows.map(sessionItem).toReversed())
    }
    const reading = await project.view(session)
    const shown = publicSession(reading.state)
    const items = part === 'entries' ? entryItems(reading) : ITEMS[part](shown)
    return listed(part, tokens, { session: headOf(shown) }, items)
  },
}

/** The newest of a list that there is room for. */
function listed(part: Part, tokens: number, head: object, items: readonly Listed[]): Answer {
  const short = items.map((item) => ({ ...item, text: clip(item.text, LONGEST_ITEM) }))
  const { kept, leftOut } = latestWithin(short, tokens)
  const more = leftOut === 0 ? [] : [`… ${leftOut} earlier: more tokens show more`]
  return {
    value: { ...head, [part]: kept, earlier: leftOut === 0 ? undefined : leftOut },
    text:
      kept.length === 0 && leftOut === 0
        ? `No ${part}.`
        : [...more, ...kept.map(lineOf)].join('\n'),
  }
}

interface Listed {
  readonly text: string
  readonly id?: string
  readonly [field: string]: unknown
}

function lineOf({ text, id, ...fields }: Listed): string {
  const rest = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${String(value)}`],
  )
  return [`- ${id === undefined ? '' : `(${id}) `}${text}`, ...rest].join('; ')
}

function sessionItem({ id, name, status, branch, goal, updatedAt }: SessionRow): Listed {
  return { id, text: goal, name, status, branch, updatedAt }
}

function headOf({ id, name, status, goal, counts, currentStep }: PublicSession) {
  const steps = `${counts.stepsDone}/${counts.steps}`
  return { id, name, status, goal, steps, current: currentStep?.text }
}

function entryItems({ entries }: Reading): readonly Listed[] {
  return publicEntries(entries).map(({ id, text, kind, at, by }) => {
    return { id: shortId(id), text, kind, at, by }
  })
}

const ITEMS: Readonly<
  Record<
    Exclude<Part, 'overview' | 'sessions' | 'entries'>,
    (session: PublicSession) => readonly Listed[]
  >
> = {
  progress: ({ steps, progress }) => [
    ...steps.items.map(({ id, text, status }) => ({ id: shortId(id), text, step: status })),
    ...progress.items.map(({ id, text, at }) => ({ id: shortId(id), text, at })),
  ],
  decisions: ({ decisions }) =>
    decisions.items.map(({ id, text, at, context, options, choice, rationale }) => {
      return { id: shortId(id), text, at, context, options, choice, rationale }
    }),
  discoveries: ({ discoveries }) =>
    discoveries.items.map(({ id, text, at, gotcha }) => {
      return { id: shortId(id), text, at, gotcha: gotcha ? true : undefined }
    }),
  blockers: ({ blockers }) =>
    blockers.items.map(({ id, text, at, resolvedAt, resolution }) => {
      return { id: shortId(id), text, at, resolvedAt, resolution }
    }),
  next: ({ next }) => next.items.map(({ id, text }) => ({ id: shortId(id), text })),
  activity: (session) => activityOf(session).toSorted((a, b) => (a.at < b.at ? -1 : 1)),
}

/** What hooks captured, in the order in which it happened. */
function activityOf(session: PublicSession): readonly (Listed & { readonly at: string })[] {
  const { requests, changedFiles, commits, tests, agents } = session
  return [
    ...requests.items.map(({ text, at }) => ({ what: 'request', text, at })),
    ...changedFiles.items.map(({ text, at }) => ({ what: 'file', text, at })),
    ...commits.items.map(({ text, at, commit }) => {
      return { what: 'commit', text, at, commit: commit.slice(0, 7) }
    }),
    ...tests.items.map(({ text, at, passed, summary }) => {
      return { what: 'test run', text, at, passed, summary }
    }),
    ...agents.items.map(({ text, at, result }) => ({ what: 'agent', text, at, result })),
  ]
}
