// Reports each budget threshold once and requests a handoff before the window is lost. The handoff
// is made in the background, because it takes longer than an agent should wait.
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
import { workingFolder } from '../project/store/project-paths.ts'
import { requestHandoff } from './pending-handoff.ts'
import type { SessionContext } from './session-context.ts'

export function currentBudget(context: SessionContext): Budget {
  const { conversationState, paths, config, env, now, stateFolder, event, hooks } = context
  const { lastAutomatic } = context.state
  return computeBudget({
    harness: event.harness,
    window: readContextWindow(stateFolder, event.conversation),
    tail:
      conversationState.transcript === undefined
        ? undefined
        : hooks.transcript.lastUsage(conversationState.transcript),
    configured: config.budget.window,
    lastAutomatic: lastAutomatic?.conversation === event.conversation ? lastAutomatic : undefined,
    root: workingFolder(paths),
    env,
    now,
  })
}

export function watchBudget(context: SessionContext): void {
  // Together with a context it could exceed the injection limit; the next event reports it.
  if (context.session === undefined || context.response.model !== undefined) return
  // Until the transcript shows the compaction, its last usage belongs to the old window.
  if (context.conversationState.awaitsBoundary === true) return
  const budget = currentBudget(context)
  const { tokens, point, window } = budget
  if (tokens === undefined) return
  const { windowNumber = 0 } = context.conversationState
  const key = String(windowNumber)
  // A concurrent hook may have reported it.
  const before =
    readConversationState(context.stateFolder, context.event.conversation)?.crossed ??
    context.conversationState.crossed
  const fill = { tokens: tokens.value, point: point?.value }
  const { newly, crossed } = crossThresholds(fill, key, before, context.config.budget)
  if (newly.length === 0) return
  context.update({ crossed })
  const { conversation } = context.event
  for (const stage of newly) {
    const known = defined({ point: point?.value, window: window?.value })
    const data = { conversation, stage, tokens: tokens.value, ...known, source: tokens.from }
    context.record('budget.crossed', data, crossingKey(conversation, key, stage))
  }
  reportThresholds(context, budget, newly)
}

/** A jump over several stages is one report. */
function reportThresholds(
  context: SessionContext,
  budget: Budget,
  newly: readonly BudgetThreshold[],
): void {
  const stage = newly.findLast((threshold) => threshold !== SMART_ZONE)
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
 * Tokens at which the next threshold is crossed, for the fast path. 0 while the model is unknown,
 * undefined once all are crossed.
 */
export function nextAlert(context: SessionContext): number | undefined {
  const { tokens, point } = currentBudget(context)
  if (tokens === undefined && point === undefined) return 0
  const { stages, smartZone } = context.config.budget
  const { crossed, windowNumber = 0 } = context.conversationState
  const isCrossed = (threshold: BudgetThreshold) =>
    crossed?.window === String(windowNumber) && crossed.lines.includes(threshold)
  const ahead = [
    ...(isCrossed(SMART_ZONE) ? [] : [smartZone]),
    ...stages
      .filter((stage) => !isCrossed(stage))
      .flatMap((stage) => tokensAt(stage, point?.value) ?? []),
  ]
  return ahead.length === 0 ? undefined : Math.min(...ahead)
}

export function hasCrossedLastStage({ config, conversationState }: SessionContext): boolean {
  const { crossed, windowNumber = 0 } = conversationState
  const last = config.budget.stages.at(-1)
  return (
    last !== undefined && crossed?.window === String(windowNumber) && crossed.lines.includes(last)
  )
}
