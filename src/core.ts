// What the front ends use of the core besides the library. Nothing but exports: the bundler leads each to its module, so a command loads only what it uses.
export { proposeSpecialist } from './backlog/specialist.ts'
export { PRIORITIES, SIZES, findTask, isTaskOpen, matchTasks, readStatus } from './backlog/task.ts'
export { openBlocks, taskTrees, waitingFor } from './backlog/waits.ts'
export { tokensText } from './backlog/workflow/templates.ts'
export { DEFAULT_TOKENS, FEWEST_TOKENS } from './command/digest/compose.ts'
export { budgetLine } from './context/budget/banner.ts'
export { measured } from './context/budget/figures.ts'
export { isPercent, roleOf, tokensAt } from './context/budget/stages.ts'
export { EXPORT_FORMATS } from './document/export/work.ts'
export { modelOf } from './document/model.ts'
export { decisionLine, delegateLine } from './document/progress.ts'
export { renderModel } from './document/render.ts'
export { renderStateToon } from './document/state-files.ts'
export { findRepository } from './git/repository.ts'
export type {
  HarnessSetup,
  PlaceReport,
  SetupReport,
  SetupRequest,
} from './harness/contract/setup.ts'
export { findVersion } from './harness/process/find-program.ts'
export {
  DEFAULT_HARNESS,
  checkHarnessName,
  findHarness,
  importedHarnesses,
  installableHarnesses,
} from './harness/registry.ts'
export { serveOnStandardStreams } from './harness/rehearsal/agent/agent.ts'
export { type Script, loadScript } from './harness/rehearsal/agent/script.ts'
export { type FileChange, type Plan, filesOf, kindOf, unifiedDiff } from './harness/setup/plan.ts'
export { wordsIn } from './history/summary.ts'
export { serveHook } from './hook/serve.ts'
export { statusLine } from './hook/status-line.ts'
export { isSystemError } from './journal/errors.ts'
export { replaceSource } from './journal/files.ts'
export { statOrUndefined } from './journal/look.ts'
export { curveOf } from './pages/conversations.ts'
export { KnownHarnesses } from './pages/harnesses.ts'
export { type OpenedProject, Projects, notThere, projectKey } from './pages/projects.ts'
export { decideWorkflow, delegatePage, moveDelegate, runPage } from './pages/run-page.ts'
export { readNote, removeNote, writeNote } from './pages/running-file.ts'
export {
  entryList,
  handoffPage,
  listHandoffs,
  listSessions,
  listWorkflows,
  rowOfSession,
  searchPage,
  sessionPage,
} from './pages/session-page.ts'
export { KeptLedgers, UsageByDay } from './pages/usage.ts'
export { ProjectWatch } from './pages/watch-project.ts'
export { whyNotPurged } from './project/purge/needle.ts'
export { checkSetup, setUpHarness } from './project/set-up-harness.ts'
export { refuseInRun } from './project/store/in-run.ts'
export { findItem } from './project/tasks/backlog.ts'
export type { AttemptPlace, DelegateMove, Listener } from './run/entries.ts'
export type { PlannedParallel, PlannedRunSession } from './run/loop/plan-run.ts'
export { MOST_AT_ONCE } from './run/options.ts'
export { PRIORS, PRIOR_BASE, PRIOR_START } from './run/plan/forecast.ts'
export { findProfile, loadProfiles } from './run/profiles/profile.ts'
export { isTakenUp } from './session/kinds/handoffs.ts'
export { currentPlace, focusOf, isApproved, phaseLine } from './session/kinds/phases.ts'
export { lineOf } from './session/registry.ts'
export { count, currentStep, openBlockers, stepCounts } from './session/state.ts'
export { tldrOf } from './session/tldr.ts'
