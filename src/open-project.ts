import { type ProjectOperations, projectOperations } from './project/project-operations.ts'
import { Workspace, type WorkspaceOptions } from './project/store/workspace.ts'
import {
  type Delegates,
  type Runs,
  projectDelegates,
  projectRuns,
} from './run/control/project-runs.ts'
import type { PromptEvent, PromptHandle, PromptRequest } from './run/prompt/prompt-events.ts'
import type { ImportReport, ImportRequest } from './project/import/import-histories.ts'
import type { Ledger, Maintenance } from './ledger/ledger-types.ts'
import type { LedgerRequest } from './ledger/ledger.ts'
import type { RedactOptions } from './text/redact.ts'

/** Everything that the command line can do, for programs. Dispose of it when done. */
export interface Project extends ProjectOperations {
  /** Runs: an agent works through a backlog. */
  readonly runs: Runs
  /** Background agents, and merging their work. */
  readonly delegates: Delegates
  /** Imports earlier conversations of this project from the harnesses' own histories. */
  importHistories(request?: ImportRequest): Promise<ImportReport>
  /** Sends one prompt to an agent of any harness, in a new or an existing session. */
  prompt(request: PromptRequest, onEvent?: (event: PromptEvent) => void): Promise<PromptHandle>
  /** The full document of a session, in Markdown. */
  document(name?: string): Promise<string>
  /** A redacted copy of a value: agents may write secrets, and output ends up in logs and transcripts. */
  withoutSecrets<T>(value: T): Promise<T>
  /** The project's own secret patterns, besides the built-in ones. */
  redaction(): Promise<RedactOptions>
  /** What Stint cost and saved in this project, or in the session, task or run that `of` names. */
  ledger(query?: LedgerQuery): Promise<Ledger>
  /** Suggestions for tidying up now and then. */
  readonly maintenance: {
    look(): Promise<Maintenance>
    /** Marks it as done, which restarts the count. */
    done(by?: string): Promise<Maintenance>
  }
}

export interface LedgerQuery extends Pick<LedgerRequest, 'since' | 'by'> {
  /** By name, id or a unique part of the id. */
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
    // Rarely needed, so loaded on demand.
    async importHistories(request = {}) {
      const { importHistories } = await import('./project/import/import-histories.ts')
      return importHistories(workspace, { env: workspace.env, ...request })
    },
    async prompt(request, onEvent = () => {}) {
      const { startPrompt } = await import('./run/prompt/start-prompt.ts')
      return startPrompt(workspace, request, onEvent)
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
    async doctor(request) {
      const { checkDelegates, checkRuns } = await import('./run/control/check-runs.ts')
      const { withChecks } = await import('./project/doctor/diagnosis.ts')
      const { paths } = workspace
      const diagnosis = await project.doctor(request)
      if (request?.repair === true && paths.repository !== undefined) {
        const { reconcileOrphans } = await import('./run/control/delegate-operations.ts')
        await reconcileOrphans(workspace)
      }
      return withChecks(diagnosis, [...checkRuns(paths), ...checkDelegates(paths)])
    },
    async redaction() {
      const { redaction } = await import('./project/store/clean-draft.ts')
      return redaction(workspace.config)
    },
    async ledger({ of, ...request } = {}) {
      const { computeLedger, findLedgerScope } = await import('./ledger/ledger.ts')
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
