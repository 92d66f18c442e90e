import type { SearchHit } from '../../library.ts'
import { shortId } from '../../public.ts'
import { SEARCH_NAMES } from '../../public.ts'
import { badArguments } from './schema.ts'
import type { Tool } from './tool.ts'

const USUAL = 10
const MOST = 50

export const search: Tool = {
  name: 'search',
  description: 'Search everything recorded: words, "phrases", prefix*.',
  effect: 'reads',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      kind: { type: 'string' },
      session: { type: 'string' },
      limit: { type: 'integer' },
      all_projects: { type: 'boolean' },
    },
    required: ['query'],
  },
  async run({ project, signal }, args) {
    const query = (args.query as string).trim()
    if (query === '') throw badArguments('query is empty', 'say what to look for')
    const limit = Math.min((args.limit as number | undefined) ?? USUAL, MOST)
    const hits: SearchHit[] = []
    const found = project.search({
      text: query,
      in: 'journal',
      // One more than is told, to know whether there are more.
      limit: limit + 1,
      ...(args.kind === undefined ? {} : { kind: kindsOf(args.kind as string) }),
      ...(args.session === undefined
        ? {}
        : { session: (await project.find(args.session as string)).id }),
      ...(args.all_projects === true ? { allProjects: true } : {}),
    })
    for await (const hit of found) {
      if (signal.aborted || (hit.where === 'journal' && hits.push(hit) > limit)) break
    }
    const told = hits
      .slice(0, limit)
      .map(({ project: root, session, name, entry, kind, at, snippet }) => ({
        ...(args.all_projects === true ? { project: root } : {}),
        session: name,
        sessionId: shortId(session),
        entry: shortId(entry),
        kind,
        at,
        snippet,
      }))
    const hasMore = hits.length > limit
    const lines = told.map(
      ({ session, kind, at, snippet }) => `${session}  ${at}  ${kind}: ${snippet}`,
    )
    return {
      value: { hits: told, more: hasMore ? true : undefined },
      text:
        told.length === 0
          ? `Nothing found for "${query}".`
          : [...lines, ...(hasMore ? ['… and more'] : [])].join('\n'),
    }
  },
}

function kindsOf(name: string): readonly string[] {
  const kinds = SEARCH_NAMES.get(name) ?? (name.includes('.') ? [name] : undefined)
  if (kinds === undefined)
    throw badArguments(
      `there is no kind "${name}"`,
      `there are ${[...SEARCH_NAMES.keys()].join(', ')}`,
    )
  return kinds
}
