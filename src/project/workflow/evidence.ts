// What names a workflow when its journal is lost: commits, branches, kept code and documents.
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { GitFailed } from '../../git/run-git.ts'
import { type Trace, branchTraces, checkpointTraces, commitTraces } from '../../git/traces.ts'
import { errnoOf } from '../../journal/errors.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'
import type { TemplatePhase } from '../../session/entries.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'

export interface Evidence {
  readonly source: 'journal' | 'commit' | 'branch' | 'checkpoint' | 'handoff' | 'document'
  readonly where: string
  readonly text: string
  readonly at: string
  readonly phase?: string
  /** It names the workflow; otherwise only one of its phases. */
  readonly isNamed: boolean
}

export function findEvidence(
  workspace: Workspace,
  id: string,
  phases: readonly TemplatePhase[],
): readonly Evidence[] {
  const found = [...gitEvidence(workspace, id, phases), ...fileEvidence(workspace, id, phases)]
  return found.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

export function strongest(evidence: readonly Evidence[]): Evidence | undefined {
  const telling = evidence.filter(({ phase }) => phase !== undefined)
  return telling.find(({ isNamed }) => isNamed) ?? telling[0]
}

function gitEvidence(
  workspace: Workspace,
  id: string,
  phases: readonly TemplatePhase[],
): readonly Evidence[] {
  const { repository } = workspace.place
  if (repository === undefined) return []
  const judged = (source: Evidence['source'], traces: readonly Trace[]) =>
    traces.flatMap(
      ({ text, where, at }) => judge({ source, where, text, at }, text, id, phases) ?? [],
    )
  try {
    return [
      ...judged('commit', commitTraces(repository)),
      ...judged('branch', branchTraces(repository)),
      // Another session's checkpoint says nothing about this workflow.
      ...judged('checkpoint', checkpointTraces(repository)).filter(({ isNamed }) => isNamed),
    ]
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    workspace.say(`what git remembers is not known: ${error.message}`)
    return []
  }
}

const MOST_FILES = 500
const LONGEST_FILE = 64 * 1024

function fileEvidence(
  { place }: Workspace,
  id: string,
  phases: readonly TemplatePhase[],
): readonly Evidence[] {
  const journals = join(place.sessions, 'journal')
  const inJournals = (folder: string) =>
    namesIn(journals).map((session) => join(journals, session, folder))
  const folders: readonly (readonly [Evidence['source'], readonly string[]])[] = [
    ['handoff', inJournals('handoffs')],
    [
      'document',
      [join(place.sessions, 'active'), join(place.sessions, 'archive'), ...inJournals('entries')],
    ],
  ]
  const files = folders.flatMap(([source, within]) =>
    within.flatMap((folder) =>
      namesIn(folder)
        .filter((name) => name.endsWith('.md'))
        .map((name) => ({ source, path: join(folder, name) })),
    ),
  )
  return files.slice(0, MOST_FILES).flatMap(({ source, path }) => {
    const stat = statOrUndefined(path)
    if (stat?.isFile() !== true) return []
    const text = readOrUndefined(path)?.subarray(0, LONGEST_FILE).toString('utf8') ?? ''
    const told = text.split('\n').find((line) => phaseIn(line, phases, false) !== undefined) ?? ''
    const where = relative(place.root, path)
    const judged = judge(
      { source, where, text: shorten(oneLine(told), 100), at: stat.mtime.toISOString() },
      `${where}\n${text}`,
      id,
      phases,
    )
    if (judged?.isNamed !== true) return []
    const phase = phaseIn(told, phases, false)
    const { phase: _anywhere, ...evidence } = judged
    return [phase === undefined ? evidence : { ...evidence, phase }]
  })
}

function judge(
  found: Omit<Evidence, 'isNamed' | 'phase'>,
  text: string,
  id: string,
  phases: readonly TemplatePhase[],
): Evidence | undefined {
  const isNamed = names(text, id)
  const phase = phaseIn(text, phases, isNamed)
  return isNamed || phase !== undefined ? { ...found, isNamed, ...defined({ phase }) } : undefined
}

/** wf-001 is not in wf-0011 nor in wf-001-2. */
function names(text: string, id: string): boolean {
  return new RegExp(`(?<![a-z0-9])(?<![a-z0-9]-)${escaped(id)}(?![a-z0-9]|-\\d)`, 'i').test(text)
}

/** "Phase 5b", "phase: Tests"; if `isNamed`, also a bare 5b or a word in capitals such as RED. */
export function phaseIn(
  text: string,
  phases: readonly TemplatePhase[],
  isNamed: boolean,
): string | undefined {
  const all = phases.flatMap((phase) => [phase, ...(phase.subPhases ?? [])])
  const word = (pattern: string, flags = 'i') =>
    new RegExp(`(?<![A-Za-z0-9])${pattern}(?![A-Za-z0-9])`, flags).exec(text)?.index
  const found = all.flatMap(({ id, name }) => {
    const capitals = name.split(' ').findLast((part) => /^[A-Z]{3,}$/.test(part))
    const at = [
      word(`phase[\\s:#_/-]*(?:${escaped(id)}|${escaped(name)})`),
      isNamed && /^\d+[a-z]$/i.test(id) ? word(escaped(id)) : undefined,
      isNamed && capitals !== undefined ? word(capitals, '') : undefined,
    ].filter((index) => index !== undefined)
    return at.length === 0 ? [] : [{ id, at: Math.min(...at) }]
  })
  return found.toSorted((a, b) => a.at - b.at)[0]?.id
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`)
}

// Unreadable evidence is none.
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return []
  }
}
