import type { SaidHit, SearchHit } from '../../../library.ts'
import { SEARCH_NAMES, shortId } from '../../../public.ts'
import { buildCommand } from '@stricli/core'
import { minute } from '../../../text/times.ts'
import type { Context } from '../../context/context.ts'
import { Misuse } from '../../context/errors.ts'
import { json, moment, number, session, text, toggle } from '../../context/flags.ts'
import type { Output } from '../../context/output.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly in?: 'journal' | 'said' | 'all'
  readonly kind?: string
  readonly session?: string
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly offset?: number
  readonly allProjects?: boolean
  readonly json?: boolean
}

const DEFAULT_LIMIT = 20

function kindsOf(name: string): readonly string[] {
  const kinds = SEARCH_NAMES.get(name.toLowerCase()) ?? (name.includes('.') ? [name] : undefined)
  if (kinds === undefined)
    throw new Misuse(
      `there is no kind "${name}"`,
      `there are ${[...SEARCH_NAMES.keys()].join(', ')}`,
    )
  return kinds
}

export const search = buildCommand<Flags, string[], Context>({
  docs: {
    brief: 'Search everything recorded and everything said',
    fullDescription:
      'Full text over all entries and over the stored conversations, the most telling of both first. "Exact phrases" in quotes; a* for beginnings. Of a long tool output only both ends are found.',
    customUsage: [
      { input: 'lock ordering', brief: 'both words' },
      { input: 'mutex --kind decision', brief: 'only decisions' },
      { input: 'mutex --in said', brief: 'only what agents and people said' },
      { input: 'timeout --all-projects --limit 50', brief: 'on this whole machine' },
    ],
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: { parse: String, brief: 'Words to look for', placeholder: 'WORD' },
    },
    flags: {
      in: {
        kind: 'enum',
        values: ['journal', 'said', 'all'],
        brief: 'Where: in the journals, in what was said, or in both (all)',
        optional: true,
      },
      kind: text('Only entries of this kind: decision, discovery, progress, …', 'KIND'),
      session,
      since: text('Only what is from then on', 'DATE'),
      until: text('Only what is until then', 'DATE'),
      limit: number(`At most this many (${DEFAULT_LIMIT})`),
      offset: number('Leave out this many at first'),
      allProjects: toggle('Every project that Stint was used in on this machine'),
      json,
    },
  },
  async func(flags, ...words) {
    await withProject(this, flags, async (project, output, pick) => {
      const query = words.join(' ').trim()
      if (query === '') throw new Misuse('say what to look for', 'stint search lock ordering')
      const marks = output.bold('|').split('|') as [string, string]
      const within = await pick(flags.session)
      const hits = project.search({
        text: query,
        limit: flags.limit ?? DEFAULT_LIMIT,
        ...defined({
          in: flags.in,
          offset: flags.offset,
          session: within,
          allProjects: flags.allProjects,
          kind: flags.kind === undefined ? undefined : kindsOf(flags.kind),
          since: moment(flags.since),
          until: moment(flags.until),
        }),
        ...(flags.json === true || marks[0] === '' ? {} : { marks }),
      })
      let found = 0
      if (flags.json === true) output.line('[')
      for await (const hit of hits) {
        if (flags.json === true) output.line(`${found === 0 ? '' : ','}${JSON.stringify(hit)}`)
        else {
          const where = flags.allProjects === true ? `${hit.project}  ` : ''
          output.line(
            where + (hit.where === 'said' ? saidLine(hit, output) : entryLine(hit, output)),
          )
          output.line(`   ${hit.snippet}`)
        }
        found += 1
      }
      if (flags.json === true) output.line(']')
      else if (found === 0) output.line(`Nothing found for "${query}".`)
    })
  },
})

function entryLine({ name, session: id, at, kind, entry }: SearchHit, output: Output): string {
  return `${name} ${output.dim(`(${shortId(id)})`)}  ${minute(at)}  ${kind}  ${shortId(entry)}`
}

function saidLine(
  { name, session: id, conversation, harness, role, at, item }: SaidHit,
  output: Output,
): string {
  const whose =
    name === undefined || id === undefined
      ? 'no session'
      : `${name} ${output.dim(`(${shortId(id)})`)}`
  const when = at === undefined ? '' : `  ${minute(at)}`
  return `${whose}${when}  said by ${SPEAKERS[role]}  ${harness ?? 'conversation'} ${conversation} #${item}`
}

const SPEAKERS = { user: 'the user', assistant: 'the agent', system: 'the harness' } as const
