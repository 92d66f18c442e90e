import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import type { SessionRow } from '../../index/rows.ts'
import {
  type Draft,
  type TemplatePhase,
  type WorkflowTemplate,
  draft,
} from '../../session/entries.ts'
import type { RawEntry } from '../../session/in-effect.ts'
import { inEffect } from '../../session/in-effect.ts'
import type { SessionState } from '../../session/state.ts'
import { oneLine } from '../../text/clean.ts'
import { refuseClosed } from '../store/choose.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
import { logIds, logPlace } from '../store/place.ts'
import type { Workspace } from '../store/workspace.ts'
import { appendWithCheckpoint, findPhase } from './append.ts'
import { refuseBadId, startWorkflow } from './begin.ts'
import { type Evidence, findEvidence, strongest } from './evidence.ts'
import { type WorkflowOverview, overviewOf } from './overview.ts'
import { enterPhase } from './phases.ts'
import { templateFor } from './templates.ts'
import { defined } from '../../text/defined.ts'

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
