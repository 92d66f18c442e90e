import {
  type ProjectOperations as PlainProject,
  projectOperations,
} from './project/project-operations.ts'
import { Workspace, type WorkspaceOptions } from './project/store/workspace.ts'
import {
  type Delegates,
  type Runs,
  projectDelegates,
  projectRuns,
} from './run/control/project-runs.ts'
import type { PromptEvent, PromptHandle, PromptRequest } from './run/prompt/contract.ts'
import type { ImportReport, ImportRequest } from './project/import/import-histories.ts'
import type { Ledger, Maintenance } from './ledger/contract.ts'
import type { LedgerRequest } from './ledger/ledger.ts'
import type { RedactOptions } from './text/redact.ts'

/** Everything the command line does, for programs. Dispose of it when done. */
export interface Project extends PlainProject {
  /** A backlog worked through by an agent. */
  readonly runs: Runs
  /** Agents in the background, and bringing in what they did. */
  readonly delegates: Delegates
  /** Brings in what agents have said here before, from what their harnesses keep. */
  importHistories(request?: ImportRequest): Promise<ImportReport>
  /** One prompt to an agent of any harness, in a session that is new or goes on. */
  prompt(request: PromptRequest, tell?: (event: PromptEvent) => void): Promise<PromptHandle>
  /** The document of a session, Markdown, with everything in it. */
  document(name?: string): Promise<string>
  /** The same value without secrets: what agents write is theirs, and what is shown is kept in logs and transcripts. */
  withoutSecrets<T>(value: T): Promise<T>
  /** The secrets to look for here besides those that are known everywhere. */
  redaction(): Promise<RedactOptions>
  /** What Stint cost and saved here, or in the session, task or run that `of` names. */
  ledger(query?: LedgerQuery): Promise<Ledger>
  /** What is worth tidying up now and then. */
  readonly maintenance: {
    look(): Promise<Maintenance>
    /** It was done: from here it counts anew. */
    done(by?: string): Promise<Maintenance>
  }
}

export interface LedgerQuery extends Pick<LedgerRequest, 'since' | 'by'> {
  /** By name, id or a part of it that only it has. */
  readonly of?: string
}

/** Opens the project around a folder. Nothing is written until something is recorded. */
export function openProject(cwd: string = process.cwd(), options: WorkspaceOptions = {}): Project {
  const workspace = new Workspace(cwd, options)
  const project = projectOperations(workspace)
  return {
    ...project,
    runs: projectRuns(workspace),
    delegates: projectDelegates(workspace),
    // Rarely needed, so not loaded with the rest.
    async importHistories(request = {}) {
      const { importHistories } = await import('./project/import/import-histories.ts')
      return importHistories(workspace, { env: workspace.env, ...request })
    },
    async prompt(request, tell = () => {}) {
      const { startPrompt } = await import('./run/prompt/start-prompt.ts')
      return startPrompt(workspace, request, tell)
    },
    async document(name) {
      const { modelOf } = await import('./document/model.ts')
      const { renderModel } = await import('./document/render.ts')
      return renderModel(modelOf((await project.view(name)).state))
    },
    async withoutSecrets(value) {
      const { redaction } = await import('./project/store/clean-draft.ts')
      const { redactDeep } = await import('./text/redact.ts')
      return redactDeep(value, redaction(workspace.config)).value
    },
    async doctor(wanted) {
      const { checkDelegates, checkRuns } = await import('./run/control/check-runs.ts')
      const { withChecks } = await import('./project/doctor/diagnosis.ts')
      const { paths: place } = workspace
      const own = await project.doctor(wanted)
      return withChecks(own, [...checkRuns(place), ...checkDelegates(place)])
    },
    async redaction() {
      const { redaction } = await import('./project/store/clean-draft.ts')
      return redaction(workspace.config)
    },
    async ledger({ of, ...request } = {}) {
      const { computeLedger } = await import('./ledger/ledger.ts')
      const { findLedgerScope } = await import('./ledger/ledger.ts')
      return computeLedger(workspace, {
        ...request,
        ...(of === undefined ? {} : await findLedgerScope(workspace, of)),
      })
    },
    maintenance: {
      async look() {
        const { checkMaintenance } = await import('./ledger/maintenance.ts')
        return checkMaintenance(workspace)
      },
      async done(by) {
        const { recordMaintenance } = await import('./ledger/maintenance.ts')
        return recordMaintenance(workspace, by)
      },
    },
  }
}
