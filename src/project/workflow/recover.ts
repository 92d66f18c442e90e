import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { SessionRow } from '../../index/queries.ts'
import {
  type EntryDraft,
  type TemplatePhase,
  type WorkflowTemplate,
  draftEntry,
} from '../../session/entries.ts'
import { type RawEntry, effectiveEntries } from '../../session/effective-entries.ts'
import { type SessionState, isSessionOpen } from '../../session/state.ts'
import type { Workflow } from '../../session/kinds/phases.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { refuseClosed } from '../store/choose-session.ts'
import type { SessionReading } from '../store/live-session.ts'
import { logIds, logPaths } from '../store/project-paths.ts'
import type { Workspace } from '../store/workspace.ts'
import {
  type WorkflowOverview,
  appendWithCheckpoint,
  enterPhase,
  findPhase,
  overviewOf,
} from './phases.ts'
import { refuseBadId, startWorkflow, templateFor } from './begin.ts'
import { defined } from '../../text/defined.ts'
import { type GitTrace, branchTraces, checkpointTraces, commitTraces } from '../../git/status.ts'
import { ignoreIoErrors } from '../../journal/errors.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'

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
  /** Newest first. */
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
  const { workflow: id, dryRun = false } = options
  refuseBadId(id)
  // Checked before reading, because reading restores a log of which only the link is left.
  const { paths } = workspace
  const lost = [...logIds(paths)].filter((one) => !existsSync(logPaths(paths, one).path))
  const row = await sessionOf(workspace, id)
  if (row === undefined) return rebuildWorkflow(workspace, options)
  const reading = await workspace.withSession(row.id, (session) =>
    dryRun ? session.read() : workspace.refreshIfPossible(session),
  )
  return reading.state.workflow === undefined
    ? rebuildWorkflow(workspace, options, reading.state)
    : reportFound(workspace, options, reading, reading.state.workflow, lost.includes(row.id))
}

async function sessionOf(workspace: Workspace, id: string): Promise<SessionRow | undefined> {
  if (!workspace.hasSessions()) return undefined
  const index = await workspace.index()
  const named = index.findByNameOrId(id).filter((row) => row.name === id)
  const own = named.find(isSessionOpen) ?? named[0]
  if (own !== undefined) return own
  const followed = [...index.sessions({ kind: 'workflow.begun' })]
  for (const row of followed) {
    const { entries } = await workspace.withSession(row.id, (session) => session.read())
    if (entries.some(({ kind, data }) => kind === 'workflow.begun' && data.workflow === id))
      return row
  }
  return undefined
}

async function reportFound(
  workspace: Workspace,
  options: RecoverOptions,
  { state, entries }: SessionReading,
  workflow: Workflow,
  wasLost: boolean,
): Promise<Recovered> {
  const { path, link } = logPaths(workspace.paths, state.id)
  const where = relative(workspace.paths.root, wasLost && link !== undefined ? link : path)
  const because = wasLost
    ? `its journal was found under the git directory (${where}), and is in its place again`
    : `its journal is there (${where})`
  const { id, name } = findPhase(workflow, options.phase ?? workflow.current).leaf
  const result = {
    evidence: journalEvidence(entries, where),
    phase: { id, name },
    because,
    outcome: 'found',
  } as const
  if (options.dryRun === true) return result
  const by = options.by ?? 'library'
  const renamed = await rename(workspace, state, options, by)
  if (options.phase === undefined || id === workflow.current)
    return { ...result, overview: overviewOf(workspace, renamed) }
  // Recovering must not bypass gates.
  const { state: entered } = await enterPhase(workspace, {
    workflow: options.workflow,
    phase: id,
    note: 'recovered',
    by,
  })
  return { ...result, because: 'it was said so', overview: overviewOf(workspace, entered) }
}

async function rename(
  workspace: Workspace,
  state: SessionState,
  options: RecoverOptions,
  by: string,
): Promise<SessionState> {
  const title = oneLine(options.name ?? '')
  const drafts: EntryDraft[] = [
    ...(state.name === options.workflow
      ? []
      : [draftEntry('session.renamed', { name: options.workflow }, { by })]),
    ...(title === '' || title === state.title
      ? []
      : [draftEntry('session.titled', { title }, { by })]),
  ]
  if (drafts.length === 0) return state
  refuseClosed(state)
  return (await workspace.append(state.id, drafts)).state
}

function journalEvidence(entries: readonly RawEntry[], where: string): readonly Evidence[] {
  return effectiveEntries(entries)
    .filter(({ kind }) => /^(?:workflow|phase)\./.test(kind))
    .map(({ kind, data, at }): Evidence => {
      const phase = typeof data.phase === 'string' ? { phase: data.phase } : {}
      const text = [kind, ...Object.values(phase)].join(' ')
      return { source: 'journal', where, text, at, isNamed: true, ...phase }
    })
    .toReversed()
}

async function rebuildWorkflow(
  workspace: Workspace,
  options: RecoverOptions,
  existing?: SessionState,
): Promise<Recovered> {
  const { workflow: id, by = 'library' } = options
  const template = templateFor(workspace, options.template)
  const evidence = findEvidence(workspace, id, template.phases)
  const { phase, because } = inferPhase(options, template, evidence)
  const outcome: Recovered['outcome'] = existing === undefined ? 'opened' : 'followed'
  const result = { evidence, phase, because, outcome }
  if (options.dryRun === true) return result
  const title = oneLine(options.name ?? '') || existing?.title || `${id} (recovered)`
  const [first] = template.phases
  const isFirst = phase.id === (first?.subPhases?.[0]?.id ?? first?.id)
  const entered = {
    phase: phase.id,
    note: `recovered: ${because}`,
    ...defined({ git: workspace.git() }),
  }
  const drafts: EntryDraft[] = [
    draftEntry('workflow.begun', { workflow: id, name: title, template }, { by }),
    ...(isFirst ? [] : [draftEntry('phase.entered', entered, { by })]),
    draftEntry('note.added', { text: summary(phase, because, evidence) }, { by }),
  ]
  if (existing === undefined) {
    const { state } = await startWorkflow(workspace, { name: id, title, by }, drafts)
    return { ...result, overview: overviewOf(workspace, state) }
  }
  refuseClosed(existing)
  const titled = title === existing.title ? [] : [draftEntry('session.titled', { title }, { by })]
  const { state } = await appendWithCheckpoint(
    workspace,
    workspace.session(existing.id),
    existing,
    [...titled, ...drafts],
    { by, note: `Recovered in phase ${phase.id} - ${phase.name}` },
  )
  return { ...result, overview: overviewOf(workspace, state) }
}

function inferPhase(
  options: RecoverOptions,
  { phases }: WorkflowTemplate,
  evidence: readonly Evidence[],
) {
  const all: readonly TemplatePhase[] = phases.flatMap((phase) => [
    phase,
    ...(phase.subPhases ?? []),
  ])
  const placeFor = (wanted: string) => {
    const phase = all.find((one) => one.id === wanted)!
    const { id, name } = phase.subPhases?.[0] ?? phase
    return { id, name }
  }
  if (options.phase !== undefined) {
    const pending = phases.map(({ subPhases = [], ...phase }) => ({
      ...phase,
      status: 'pending' as const,
      gate: phase.gate ?? ('none' as const),
      subPhases: subPhases.map((sub) => ({ ...sub, status: 'pending' as const })),
    }))
    const { id } = findPhase({ id: options.workflow, phases: pending }, options.phase).leaf
    return { phase: placeFor(id), because: 'it was said so' }
  }
  const best = strongestEvidence(evidence)
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

const MAX_LISTED = 10

function summary(
  phase: { id: string; name: string },
  because: string,
  evidence: readonly Evidence[],
): string {
  const lines = evidence
    .slice(0, MAX_LISTED)
    .map(({ source, where, text, at }) => `- ${at.slice(0, 10)} ${source} ${where}: ${text}`)
  const more = evidence.length > MAX_LISTED ? [`- and ${evidence.length - MAX_LISTED} more`] : []
  return [`Recovered in phase ${phase.id} - ${phase.name}: ${because}`, ...lines, ...more].join(
    '\n',
  )
}

// What names a workflow when its journal is lost: commits, branches, saved code and documents.

export interface Evidence {
  readonly source: 'journal' | 'commit' | 'branch' | 'checkpoint' | 'handoff' | 'document'
  readonly where: string
  readonly text: string
  readonly at: string
  readonly phase?: string
  /** It names the workflow; otherwise only one of its phases. */
  readonly isNamed: boolean
}

function findEvidence(
  workspace: Workspace,
  id: string,
  phases: readonly TemplatePhase[],
): readonly Evidence[] {
  const reportFound = [
    ...gitEvidence(workspace, id, phases),
    ...fileEvidence(workspace, id, phases),
  ]
  return reportFound.toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}

function strongestEvidence(evidence: readonly Evidence[]): Evidence | undefined {
  const withPhase = evidence.filter(({ phase }) => phase !== undefined)
  return withPhase.find(({ isNamed }) => isNamed) ?? withPhase[0]
}

function gitEvidence(
  workspace: Workspace,
  id: string,
  phases: readonly TemplatePhase[],
): readonly Evidence[] {
  const { repository } = workspace.paths
  if (repository === undefined) return []
  const judged = (source: Evidence['source'], traces: readonly GitTrace[]) =>
    traces.flatMap(
      ({ text, where, at }) => asEvidence({ source, where, text, at }, text, id, phases) ?? [],
    )
  const reportFound = workspace.unlessGitFails('what git remembers is not known', () => [
    ...judged('commit', commitTraces(repository)),
    ...judged('branch', branchTraces(repository)),
    // Another session's checkpoint says nothing about this workflow.
    ...judged('checkpoint', checkpointTraces(repository)).filter(({ isNamed }) => isNamed),
  ])
  return reportFound ?? []
}

const MAX_FILES = 500
const MAX_FILE_BYTES = 64 * 1024

function fileEvidence(
  { paths }: Workspace,
  id: string,
  phases: readonly TemplatePhase[],
): readonly Evidence[] {
  const journals = join(paths.sessions, 'journal')
  const inJournals = (folder: string) =>
    namesIn(journals).map((session) => join(journals, session, folder))
  const folders: readonly (readonly [Evidence['source'], readonly string[]])[] = [
    ['handoff', inJournals('handoffs')],
    [
      'document',
      [join(paths.sessions, 'active'), join(paths.sessions, 'archive'), ...inJournals('entries')],
    ],
  ]
  const files = folders.flatMap(([source, within]) =>
    within.flatMap((folder) =>
      namesIn(folder)
        .filter((name) => name.endsWith('.md'))
        .map((name) => ({ source, path: join(folder, name) })),
    ),
  )
  return files.slice(0, MAX_FILES).flatMap(({ source, path }) => {
    const stat = statOrUndefined(path)
    if (stat?.isFile() !== true) return []
    const text = readOrUndefined(path)?.subarray(0, MAX_FILE_BYTES).toString('utf8') ?? ''
    const line = text.split('\n').find((line) => phaseIn(line, phases, false) !== undefined) ?? ''
    const where = relative(paths.root, path)
    const judged = asEvidence(
      { source, where, text: shorten(oneLine(line), 100), at: stat.mtime.toISOString() },
      `${where}\n${text}`,
      id,
      phases,
    )
    if (judged?.isNamed !== true) return []
    const phase = phaseIn(line, phases, false)
    const { phase: _anywhere, ...evidence } = judged
    return [phase === undefined ? evidence : { ...evidence, phase }]
  })
}

function asEvidence(
  reportFound: Omit<Evidence, 'isNamed' | 'phase'>,
  text: string,
  id: string,
  phases: readonly TemplatePhase[],
): Evidence | undefined {
  const isNamed = mentions(text, id)
  const phase = phaseIn(text, phases, isNamed)
  return isNamed || phase !== undefined
    ? { ...reportFound, isNamed, ...defined({ phase }) }
    : undefined
}

/** wf-001 is not in wf-0011 nor in wf-001-2. */
function mentions(text: string, id: string): boolean {
  return new RegExp(`(?<![a-z0-9])(?<![a-z0-9]-)${escapePattern(id)}(?![a-z0-9]|-\\d)`, 'i').test(
    text,
  )
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
  const reportFound = all.flatMap(({ id, name }) => {
    const capitals = name.split(' ').findLast((part) => /^[A-Z]{3,}$/.test(part))
    const at = [
      word(`phase[\\s:#_/-]*(?:${escapePattern(id)}|${escapePattern(name)})`),
      isNamed && /^\d+[a-z]$/i.test(id) ? word(escapePattern(id)) : undefined,
      isNamed && capitals !== undefined ? word(capitals, '') : undefined,
    ].filter((index) => index !== undefined)
    return at.length === 0 ? [] : [{ id, at: Math.min(...at) }]
  })
  return reportFound.toSorted((a, b) => a.at - b.at)[0]?.id
}

function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`)
}

// Unreadable evidence is none.
function namesIn(folder: string): readonly string[] {
  return ignoreIoErrors(() => listFolder(folder)) ?? []
}
