// What only our own front ends import. The bundler resolves each export to its module, so a command loads only what it uses.
export { proposeSpecialist } from './backlog/specialist.ts'
export { PRIORITIES, SIZES, findTask, isTaskOpen, matchTasks, readStatus } from './backlog/task.ts'
export { openDependents, taskTrees, unmetDependencies } from './backlog/task-graph.ts'
export { tokensText } from './backlog/workflow/templates.ts'
export { DIGEST_DEFAULT_TOKENS, DIGEST_MIN_TOKENS } from './command/digest/compose-digest.ts'
export { budgetLine } from './context/budget/banner.ts'
export { measured } from './context/budget/budget.ts'
export { isPercent, stageAction, tokensAt } from './context/budget/stages.ts'
export { EXPORT_FORMATS } from './document/export/collect-work.ts'
export { modelOf } from './document/model.ts'
export { decisionLine, delegateLine } from './document/progress-file.ts'
export { renderModel } from './document/render.ts'
export { renderStateToon } from './document/state-files.ts'
export { findRepository } from './git/repository.ts'
export type {
  HarnessSetup,
  SettingsFileReport,
  SetupReport,
  SetupRequest,
} from './harness/contract/setup.ts'
export { stintVersion } from './harness/process/find-program.ts'
export {
  DEFAULT_HARNESS,
  checkHarnessName,
  findHarness,
  importableHarnesses,
  installableHarnesses,
} from './harness/registry.ts'
export { serveRehearsalOnStdio } from './harness/rehearsal/agent/serve-rehearsal.ts'
export { type Script, loadScript } from './harness/rehearsal/agent/script.ts'
export {
  type FileChange,
  type SetupPlan,
  changesInOrder,
  changeKind,
  unifiedDiff,
} from './harness/setup/plan.ts'
export { splitTypedText } from './history/summary.ts'
export { serveHook } from './hook/serve-hook.ts'
export { refreshViews } from './project/store/refresh-views.ts'
export { statusLine } from './hook/status-line.ts'
export { isSystemError, messageOf } from './journal/errors.ts'
export { replaceProjectFile } from './journal/write-files.ts'
export { listFolder } from './journal/read-files.ts'
export { statOrUndefined } from './journal/read-files.ts'
export { delegatePage, runDelegateAction } from './page-data/delegate-page.ts'
export { handoffPage, listAllHandoffs } from './page-data/handoff-page.ts'
export { pageTask } from './page-data/page-task.ts'
export { promptChoices, refuseOtherChoices } from './page-data/prompt-choices.ts'
export { LedgerCache } from './page-data/ledger-cache.ts'
export {
  type OpenedProject,
  ProjectPool,
  notFoundError,
  projectKey,
} from './page-data/project-pool.ts'
export { ProjectWatcher } from './page-data/project-watcher.ts'
export { runPage } from './page-data/run-page.ts'
export {
  type ServerRecord,
  readServerRecord,
  removeOpener,
  removeServerRecord,
  writeOpener,
  writeServerRecord,
} from './page-data/server-record.ts'
export {
  entryPage,
  findSessionRow,
  listSessions,
  searchPage,
  sessionPage,
} from './page-data/session-page.ts'
export { tokenCurve } from './page-data/token-curve.ts'
export { UsageByDay } from './page-data/usage-by-day.ts'
export { approveOrReject, listWorkflowRows } from './page-data/workflow-page.ts'
export { purgeTextProblem } from './project/purge/purge-matcher.ts'
export { checkHarnessSetup, setUpHarness } from './project/set-up-harness.ts'
export { refuseInRun } from './project/store/run-environment.ts'
export { findChecklistItem } from './project/tasks/project-backlog.ts'
export type { AttemptConversation, DelegateStatusChange, RunListener } from './run/entries.ts'
export type { PlannedParallel, PlannedRunSession } from './run/loop/plan-run.ts'
export { MAX_PARALLEL_TASKS } from './run/options.ts'
export { PRIORS, PRIOR_BASE, PRIOR_STARTUP } from './run/plan/forecast.ts'
export { findProfile, loadProfiles } from './run/profiles/profile.ts'
export { isAccepted } from './session/kinds/handoffs.ts'
export { currentLeaf, currentFocus, isApproved, phaseLine } from './session/kinds/phases.ts'
export { entryHeadline } from './session/registry.ts'
export { countItems, currentStep, openBlockers, stepCounts } from './session/state.ts'
export { tldrOf } from './session/tldr.ts'
export { type Project, openProject } from './open-project.ts'
export type { Recorded } from './project/lifecycle/record.ts'
export type { Resumed } from './project/lifecycle/resume.ts'
export type { SessionReading } from './project/store/live-session.ts'
export type { SessionState } from './session/state.ts'
