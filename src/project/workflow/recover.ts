import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { SessionRow } from '../../index/queries.ts'
import {
  type Draft,
  type TemplatePhase,
  type WorkflowTemplate,
  draft,
} from '../../session/entries.ts'
import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import type { SessionState } from '../../session/state.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { refuseClosed } from '../store/choose.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
import { logIds, logPlace } from '../store/place.ts'
import type { Workspace } from '../store/workspace.ts'
import { appendWithCheckpoint, enterPhase, findPhase } from './phases.ts'
import { refuseBadId, startWorkflow, templateFor } from './begin.ts'
import { type WorkflowOverview, overviewOf } from './overview.ts'
import { defined } from '../../text/defined.ts'
import { GitFailed } from '../../git/run-git.ts'
import { type Trace, branchTraces, checkpointTraces, commitTraces } from '../../git/status.ts'
import { ifPossible } from '../../journal/errors.ts'
import { readOrUndefined, statOrUndefined } from '../../journal/look.ts'

export interface RecoverOptions {
  readonly workflow: string
  readonly name?: string
  /** Overrides the evidence. */
  readonly phase?: string
  readonly template?: string
  readonly dryRun?: boolean
  readonly by?: string
}

export interface Recovered {
  /** The latest first. */
  readonly evidence: readonly Evidence[]
  readonly phase: { readonly id: string; readonly name: string }
  readonly because: string
  /** `followed`: an existing session now follows the template; `opened`: a new one does. */
  readonly outcome: 'found' | 'followed' | 'opened'
  /** Absent on a dry run. */
  readonly overview?: WorkflowOverview
}

export async function recoverWorkflow(
  workspace: Workspace,
  options: RecoverOptions,
): Promise<Recovered> {
  refuseBadId(options.workflow)
  const lost = lostLogs(workspace)
  const row = await sessionOf(workspace, options.workflow)
  if (row === undefined) return rebuilt(workspace, options, undefined)
  const session = workspace.session(row.id)
  const reading =
    options.dryRun === true ? session.read() : await workspace.refreshIfPossible(session)
  return reading.state.workflow === undefined
    ? rebuilt(workspace, options, { session, row, state: reading.state })
    : found(workspace, options, session, reading, lost.has(row.id))
}

/** Only the second name is left. Asked before reading, which restores the log. */
function lostLogs({ place }: Workspace): ReadonlySet<string> {
  return new Set([...logIds(place)].filter((id) => !existsSync(logPlace(place, id).path)))
}

async function sessionOf(workspace: Workspace, id: string): Promise<SessionRow | undefined> {
  if (!workspace.hasSessions()) return undefined
  const index = await workspace.index()
  const named = index.byNamePart(id).filter((row) => row.name === id)
  const isOpen = (row: SessionRow) => row.status === 'active' || row.status === 'paused'
  const own = named.find(isOpen) ?? named[0]
  if (own !== undefined) return own
  return [...index.sessions({ kind: 'workflow.begun' })].find((row) => {
    const session = workspace.session(row.id)
    const { entries } = session.read()
    session.close()
    return entries.some((entry) => entry.kind === 'workflow.begun' && entry.data.workflow === id)
  })
}

async function found(
  workspace: Workspace,
  options: RecoverOptions,
  session: LiveSession,
  reading: Reading,
  wasLost: boolean,
): Promise<Recovered> {
  const { workflow: id } = options
  const { path, link } = logPlace(workspace.place, session.id)
  const where = relative(workspace.place.root, wasLost && link !== undefined ? link : path)
  const workflow = reading.state.workflow!
  const evidence = journalEvidence(reading.entries, where)
  session.close()
  const because = wasLost
    ? `its journal was found under the git directory (${where}), and is in its place again`
    : `its journal is there (${where})`
  const wanted = options.phase === undefined ? undefined : findPhase(workflow, options.phase)
  const phase = wanted?.place ?? findPhase(workflow, workflow.current).place
  const told = {
    evidence,
    phase: { id: phase.id, name: phase.name },
    because,
    outcome: 'found',
  } as const
  if (options.dryRun === true) return told
  const by = options.by ?? 'library'
  const state = rename(workspace, session.id, reading.state, options, by)
  if (wanted === undefined || wanted.place.id === workflow.current)
    return { ...told, overview: overviewOf(workspace, await state) }
  await state
  // Recovering must not bypass gates.
  const entered = await enterPhase(workspace, {
    workflow: id,
    phase: wanted.place.id,
    note: 'recovered',
    by,
  })
  return { ...told, because: 'it was said so', overview: overviewOf(workspace, entered.state) }
}

async function rename(
  workspace: Workspace,
  id: string,
  state: SessionState,
  options: RecoverOptions,
  by: string,
): Promise<SessionState> {
  const title = oneLine(options.name ?? '')
  const drafts: Draft[] = [
    ...(state.name === options.workflow
      ? []
      : [draft('session.renamed', { name: options.workflow }, { by })]),
    ...(title === '' || title === state.title ? [] : [draft('session.titled', { title }, { by })]),
  ]
  if (drafts.length === 0) return state
  refuseClosed(state)
  const session = workspace.session(id)
  session.append(drafts)
  const reading = await workspace.refreshIfPossible(session)
  session.close()
  return reading.state
}

function journalEvidence(entries: readonly RawEntry[], where: string): readonly Evidence[] {
  return inEffect(entries)
    .filter(({ kind }) => /^(?:workflow|phase)\./.test(kind))
    .map(({ kind, data, at }): Evidence => {
      const phase = typeof data.phase === 'string' ? { phase: data.phase } : {}
      return {
        source: 'journal',
        where,
        text: [kind, ...Object.values(phase)].join(' '),
        at,
        isNamed: true,
        ...phase,
      }
    })
    .toReversed()
}

async function rebuilt(
  workspace: Workspace,
  options: RecoverOptions,
  existing: { session: LiveSession; row: SessionRow; state: SessionState } | undefined,
): Promise<Recovered> {
  const { workflow: id } = options
  const template = templateFor(workspace, options.template)
  const evidence = findEvidence(workspace, id, template.phases)
  const { phase, because } = conclude(options, template, evidence)
  const told = {
    evidence,
    phase,
    because,
    outcome: existing === undefined ? ('opened' as const) : ('followed' as const),
  }
  existing?.session.close()
  if (options.dryRun === true) return told
  const by = options.by ?? 'library'
  const title = oneLine(options.name ?? '') || existing?.state.title || `${id} (recovered)`
  const git = workspace.git()
  const isFirst = phase.id === firstPlace(template.phases)
  const drafts: Draft[] = [
    draft('workflow.begun', { workflow: id, name: title, template }, { by }),
    ...(isFirst
      ? []
      : [
          draft(
            'phase.entered',
            {
              phase: phase.id,
              note: `recovered: ${because}`,
              ...defined({ git }),
            },
            { by },
          ),
        ]),
    draft('note.added', { text: summary(phase, because, evidence) }, { by }),
  ]
  if (existing === undefined) {
    const { state } = await startWorkflow(workspace, { name: id, title, by }, drafts)
    return { ...told, overview: overviewOf(workspace, state) }
  }
  refuseClosed(existing.row)
  const titled = title === existing.state.title ? [] : [draft('session.titled', { title }, { by })]
  const session = workspace.session(existing.row.id)
  const note = `Recovered in phase ${phase.id} - ${phase.name}`
  const { state } = await appendWithCheckpoint(
    workspace,
    session,
    existing.state,
    [...titled, ...drafts],
    { by, note },
  )
  return { ...told, overview: overviewOf(workspace, state) }
}

function conclude(
  options: RecoverOptions,
  { phases }: WorkflowTemplate,
  evidence: readonly Evidence[],
) {
  const at = (id: string) =>
    phases.flatMap((phase) => [phase, ...(phase.subPhases ?? [])]).find((one) => one.id === id)!
  const placeFor = (id: string) => {
    const { subPhases = [], ...phase } = at(id) as TemplatePhase
    const { id: place, name } = subPhases[0] ?? phase
    return { id: place, name }
  }
  if (options.phase !== undefined) {
    const { id } = findPhase(
      { id: options.workflow, phases: asPhases(phases) },
      options.phase,
    ).place
    return { phase: placeFor(id), because: 'it was said so' }
  }
  const best = strongest(evidence)
  if (best?.phase === undefined)
    return {
      phase: placeFor(phases[0]!.id),
      because: 'nothing that was found names a phase, so it begins with the first',
    }
  const whose = best.isNamed ? '' : ', which does not name the workflow'
  return {
    phase: placeFor(best.phase),
    because: `${best.source} ${best.where} says so: ${best.text}${whose}`,
  }
}

function asPhases(phases: readonly TemplatePhase[]) {
  return phases.map(({ subPhases = [], ...phase }) => ({
    ...phase,
    status: 'pending' as const,
    gate: phase.gate ?? ('none' as const),
    subPhases: subPhases.map((sub) => ({ ...sub, status: 'pending' as const })),
  }))
}

function firstPlace([first]: readonly TemplatePhase[]): string | undefined {
  return first?.subPhases?.[0]?.id ?? first?.id
}

const TOLD = 10

function summary(
  phase: { id: string; name: string },
  because: string,
  evidence: readonly Evidence[],
): string {
  const lines = evidence
    .slice(0, TOLD)
    .map(({ source, where, text, at }) => `- ${at.slice(0, 10)} ${source} ${where}: ${text}`)
  const more = evidence.length > TOLD ? [`- and ${evidence.length - TOLD} more`] : []
  return [`Recovered in phase ${phase.id} - ${phase.name}: ${because}`, ...lines, ...more].join(
    '\n',
  )
}

// What names a workflow when its journal is lost: commits, branches, kept code and documents.

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
  return ifPossible(() => readdirSync(folder)) ?? []
}
