// What hooks do as a conversation fills up: each line on the way to its compaction is reported once, and a handoff is
// requested before the window is lost. It is made in the background, since it takes longer than an agent should wait.
import { banner } from '../context/budget/banner.ts'
import type { Budget } from '../context/budget/budget.ts'
import {
  type BudgetThreshold,
  type BudgetAction,
  SMART_ZONE,
  crossThresholds,
  crossingKey,
  stageAction,
  tokensAt,
} from '../context/budget/stages.ts'
import { computeBudget } from '../project/conversation/compute-budget.ts'
import {
  readConversationState,
  readContextWindow,
} from '../project/conversation/conversation-state.ts'
import { stepCounts } from '../session/state.ts'
import { defined } from '../text/defined.ts'
import { phaseLine } from '../session/kinds/phases.ts'
import { requestHandoff } from './pending-handoff.ts'
import type { SessionContext } from './session-context.ts'

export function currentBudget(context: SessionContext): Budget {
  const { tracking, place, config, env, now, stateFolder, event, hooks } = context
  const { lastAutomatic } = context.state
  return computeBudget({
    harness: event.harness,
    window: readContextWindow(stateFolder, event.conversation),
    tail:
      tracking.transcript === undefined
        ? undefined
        : hooks.transcript.lastUsage(tracking.transcript),
    configured: config.budget.window,
    lastAutomatic: lastAutomatic?.conversation === event.conversation ? lastAutomatic : undefined,
    root: place.repository?.worktree ?? place.root,
    env,
    now,
  })
}

export function watchBudget(context: SessionContext): void {
  // With a context in the same response it could be more than is ever to be injected; the next event reports it.
  if (context.session === undefined || context.response.model !== undefined) return
  // Until the transcript shows the compaction, its last figure is of the window that is gone.
  if (context.tracking.awaitsBoundary === true) return
  const budget = currentBudget(context)
  const { tokens, point, window } = budget
  if (tokens === undefined) return
  const { windowNumber = 0 } = context.tracking
  const key = String(windowNumber)
  // Another hook of the same moment may have reported it.
  const before =
    readConversationState(context.stateFolder, context.event.conversation)?.crossed ??
    context.tracking.crossed
  const standing = { tokens: tokens.value, point: point?.value }
  const { newly, crossed } = crossThresholds(standing, key, before, context.config.budget)
  if (newly.length === 0) return
  context.updateTracking({ crossed })
  const { conversation } = context.event
  for (const stage of newly) {
    const known = defined({ point: point?.value, window: window?.value })
    const data = { conversation, stage, tokens: tokens.value, ...known, source: tokens.from }
    context.record('budget.crossed', data, crossingKey(conversation, key, stage))
  }
  report(context, budget, newly)
}

/** Only the furthest stage: a jump over several is one report. */
function report(context: SessionContext, budget: Budget, newly: readonly BudgetThreshold[]): void {
  const stage = newly.findLast((line) => line !== SMART_ZONE)
  if (stage === undefined) return context.respond(SMART_ZONE_ADVICE)
  const role = stageAction(stage as number, context.config.budget)
  const progress = progressOf(context)
  const { person, model: asked } = ADVICE[role]
  const model = role === 'suggest' && !context.config.nudges.has('compaction') ? [] : asked
  context.respond({
    person: banner(stage, budget, { progress, advice: person }),
    model: banner(stage, budget, { progress, advice: model, isCompact: true }),
  })
  if (role === 'suggest') requestHandoff(context, 'draft', 'the context fills up')
  if (role === 'force') requestHandoff(context, 'handoff', 'the context is nearly full')
}

function progressOf({ state }: SessionContext): string {
  const { done, total } = stepCounts(state)
  return phaseLine(state) ?? `${state.name}${total === 0 ? '' : ` (${done}/${total} steps)`}`
}

const SMART_ZONE_ADVICE = {
  person:
    '📋 Past the smart zone: a long context costs more and is read less well. /clear at the next good point; the session goes on.',
  model:
    'Stint: this context has grown past what is read with full attention. A good point to stop is a good point to hand over.',
}

const ADVICE: Readonly<
  Record<BudgetAction, { person: readonly string[]; model: readonly string[] }>
> = {
  warn: {
    person: [
      'Consider /clear at the next good point: the session goes on where it stands',
      'State is saved as you work',
    ],
    model: [
      'Finish what is begun rather than begin something large; the session goes on in a fresh conversation',
    ],
  },
  suggest: {
    person: [
      'A handoff is being drafted; /clear starts a fresh conversation, which goes on by itself',
    ],
    model: [
      'A handoff is being drafted from the journal. Record now what only this conversation knows: stint log --next TEXT --key TEXT --decision TEXT --rationale TEXT --discovery TEXT',
    ],
  },
  force: {
    person: [
      'State, code and a handoff are being saved, uncommitted work included: type /clear, and it goes on by itself',
    ],
    model: [
      'Bring the present step to a safe stop. State, code and a handoff are being saved; the person has been told how to go on',
    ],
  },
}

/**
 * The tokens at which the next line is crossed, for the check that needs no handler. 0 where the model is not known
 * yet; none where no line is left.
 */
export function nextAlert(context: SessionContext): number | undefined {
  const { tokens, point } = currentBudget(context)
  if (tokens === undefined && point === undefined) return 0
  const { stages, smartZone } = context.config.budget
  const { crossed, windowNumber = 0 } = context.tracking
  const isCrossed = (line: BudgetThreshold) =>
    crossed?.window === String(windowNumber) && crossed.lines.includes(line)
  const ahead = [
    ...(isCrossed(SMART_ZONE) ? [] : [smartZone]),
    ...stages
      .filter((stage) => !isCrossed(stage))
      .flatMap((stage) => tokensAt(stage, point?.value) ?? []),
  ]
  return ahead.length === 0 ? undefined : Math.min(...ahead)
}

export function hasCrossedLastStage({ config, tracking }: SessionContext): boolean {
  const { crossed, windowNumber = 0 } = tracking
  const last = config.budget.stages.at(-1)
  return (
    last !== undefined && crossed?.window === String(windowNumber) && crossed.lines.includes(last)
  )
}
