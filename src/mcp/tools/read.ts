// The tools that read: a session or a part of it, and the search.
import type { SearchHit } from '../../library.ts'
import type { SessionReading } from '../../core.ts'
import {
  type PublicSession,
  SEARCH_NAMES,
  type SessionRow,
  publicEntries,
  publicSession,
  shortId,
} from '../../public/projection.ts'
import { defined } from '../../text/defined.ts'
import { clipText, latestWithin } from './clip-output.ts'
import { type McpToolResult, badArguments, stringSchema, defineTool } from './tool.ts'
import { refuseForeign } from './refuse-foreign.ts'

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
type ViewPart = (typeof PARTS)[number]

const DEFAULT_TOKENS = 2000
const MIN_TOKENS = 300
const MAX_TOKENS = 8000
const MAX_SESSIONS = 100
const MAX_ITEM_LENGTH = 2000

export const viewTool = defineTool({
  name: 'view',
  description: 'Show a session, a part of it, or all sessions.',
  effect: 'reads',
  properties: {
    part: { type: 'string', enum: PARTS },
    session: { type: 'string', description: 'id or name' },
    tokens: { type: 'integer' },
  },
  async run({ project }, { part = 'overview', session, tokens = DEFAULT_TOKENS }) {
    const budget = Math.min(Math.max(tokens, MIN_TOKENS), MAX_TOKENS)
    if (part === 'overview') {
      const { text, leftOut } = await project.pack({ budget, ...defined({ session }) })
      return { value: { text, leftOut: leftOut.length === 0 ? undefined : leftOut }, text }
    }
    if (part === 'sessions') {
      const rows = [...(await project.list({ limit: MAX_SESSIONS }))].filter(
        ({ id }) => !project.trust.refuses(id),
      )
      return listResult(part, budget, {}, rows.map(sessionItem).toReversed())
    }
    const reading = await project.view(session)
    refuseForeign(project, reading.state)
    const shown = publicSession(reading.state)
    const items = part === 'entries' ? entryItems(reading) : ITEMS[part](shown)
    const { id, name, status, goal, counts, currentStep } = shown
    const steps = `${counts.stepsDone}/${counts.steps}`
    const head = { id, name, status, goal, steps, current: currentStep?.text }
    return listResult(part, budget, { session: head }, items)
  },
})

/** The newest items that fit into the token limit. */
function listResult(
  part: ViewPart,
  tokens: number,
  head: object,
  items: readonly ListItem[],
): McpToolResult {
  const clipped = items.map((item) => ({ ...item, text: clipText(item.text, MAX_ITEM_LENGTH) }))
  const { latest, leftOut } = latestWithin(clipped, tokens)
  const more = leftOut === 0 ? [] : [`… ${leftOut} earlier: more tokens show more`]
  return {
    value: { ...head, [part]: latest, earlier: leftOut || undefined },
    text:
      latest.length === 0 && leftOut === 0
        ? `No ${part}.`
        : [...more, ...latest.map(itemLine)].join('\n'),
  }
}

interface ListItem {
  readonly text: string
  readonly id?: string
  readonly [field: string]: unknown
}

function itemLine({ text, id, ...fields }: ListItem): string {
  const rest = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${String(value)}`],
  )
  return [`- ${id === undefined ? '' : `(${id}) `}${text}`, ...rest].join('; ')
}

function sessionItem({ id, name, status, branch, goal, updatedAt }: SessionRow): ListItem {
  return { id, text: goal, name, status, branch, updatedAt }
}

function entryItems({ entries }: SessionReading): readonly ListItem[] {
  return publicEntries(entries).map(({ id, text, kind, at, by }) => {
    return { id: shortId(id), text, kind, at, by }
  })
}

const ITEMS: Readonly<
  Record<
    Exclude<ViewPart, 'overview' | 'sessions' | 'entries'>,
    (session: PublicSession) => readonly ListItem[]
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
      return { id: shortId(id), text, at, gotcha: gotcha || undefined }
    }),
  blockers: ({ blockers }) =>
    blockers.items.map(({ id, text, at, resolvedAt, resolution }) => {
      return { id: shortId(id), text, at, resolvedAt, resolution }
    }),
  next: ({ next }) => next.items.map(({ id, text }) => ({ id: shortId(id), text })),
  activity: (session) => activityItems(session).toSorted((a, b) => (a.at < b.at ? -1 : 1)),
}

/** What hooks captured, in order of time. */
function activityItems(session: PublicSession): readonly (ListItem & { readonly at: string })[] {
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

const DEFAULT_HITS = 10
const MAX_HITS = 50

export const searchTool = defineTool({
  name: 'search',
  description: 'Search everything recorded: words, "phrases", prefix*.',
  effect: 'reads',
  properties: {
    query: stringSchema,
    kind: stringSchema,
    session: stringSchema,
    limit: { type: 'integer' },
    all_projects: { type: 'boolean' },
  },
  required: ['query'],
  async run({ project, signal }, args) {
    const query = args.query.trim()
    if (query === '') throw badArguments('query is empty', 'say what to look for')
    const limit = Math.min(args.limit ?? DEFAULT_HITS, MAX_HITS)
    const isEverywhere = args.all_projects === true
    const hits: SearchHit[] = []
    const results = project.search({
      text: query,
      in: 'journal',
      // One more than shown, to know whether there are more.
      limit: limit + 1,
      ...(args.kind !== undefined && { kind: entryKinds(args.kind) }),
      ...(args.session !== undefined && { session: (await project.find(args.session)).id }),
      ...(isEverywhere && { allProjects: true }),
    })
    for await (const hit of results) {
      if (signal.aborted) break
      // What a stranger recorded does not reach a model before the user agreed.
      if (hit.where !== 'journal' || hit.isFromElsewhere === true) continue
      if (hits.push(hit) > limit) break
    }
    const shownHits = hits
      .slice(0, limit)
      .map(({ project: root, session, name, entry, kind, at, snippet }) => ({
        ...(isEverywhere && { project: root }),
        session: name,
        sessionId: shortId(session),
        entry: shortId(entry),
        kind,
        at,
        snippet,
      }))
    const hasMore = hits.length > limit
    const lines = shownHits.map(
      ({ session, kind, at, snippet }) => `${session}  ${at}  ${kind}: ${snippet}`,
    )
    return {
      value: { hits: shownHits, more: hasMore || undefined },
      text:
        shownHits.length === 0
          ? `Nothing found for "${query}".`
          : [...lines, ...(hasMore ? ['… and more'] : [])].join('\n'),
    }
  },
})

function entryKinds(name: string): readonly string[] {
  const kinds = SEARCH_NAMES.get(name) ?? (name.includes('.') ? [name] : undefined)
  if (kinds !== undefined) return kinds
  throw badArguments(
    `there is no kind "${name}"`,
    `there are ${[...SEARCH_NAMES.keys()].join(', ')}`,
  )
}
