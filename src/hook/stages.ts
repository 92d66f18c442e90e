// What hooks do as a conversation fills up: each line on the way to its compaction is told once, and what has to be saved
// before the window is lost is noted for whoever runs beside the agent, since it takes longer than an agent should wait.
import { banner } from '../context/budget/banner.ts'
import type { Budget } from '../context/budget/figures.ts'
import {
  type Line,
  type Role,
  SMART_ZONE,
  crossLines,
  crossingKey,
  roleOf,
  tokensAt,
} from '../context/budget/stages.ts'
import { knownBudget } from '../project/conversation/known-budget.ts'
import { readTracking } from '../project/conversation/tracking.ts'
import { readWindow } from '../project/conversation/window.ts'
import { readUsageTail } from '../harness/claude/usage-tail.ts'
import { stepCounts } from '../session/state.ts'
import { phaseLine } from '../session/kinds/phases.ts'
import { oweHandoff } from './owed.ts'
import type { Scene } from './scene.ts'

/** What is known of the budget of the conversation that an event is of. */
export function budgetOf(scene: Scene): Budget {
  const { tracking, place, config, env, now, notes, event } = scene
  const { lastAutomatic } = scene.state
  return knownBudget({
    harness: 'claude',
    window: readWindow(notes, event.conversation),
    tail: tracking.transcript === undefined ? undefined : readUsageTail(tracking.transcript),
    configured: config.budget.window,
    lastAutomatic: lastAutomatic?.conversation === event.conversation ? lastAutomatic : undefined,
    root: place.repository?.worktree ?? place.root,
    env,
    now,
  })
}

/** Tells of the lines that were crossed since the last event. */
export function watchBudget(scene: Scene): void {
  // With a context in the same answer it could be more than is ever to be given; the next event tells it.
  if (scene.session === undefined || scene.answer.model !== undefined) return
  // Until the transcript shows the compaction, its last figure is of the window that is gone.
  if (scene.tracking.awaitsBoundary === true) return
  const budget = budgetOf(scene)
  const { tokens, point, window } = budget
  if (tokens === undefined) return
  const { windowNumber = 0 } = scene.tracking
  const key = String(windowNumber)
  // Another hook of the same moment may have told it.
  const before =
    readTracking(scene.notes, scene.event.conversation)?.crossed ?? scene.tracking.crossed
  const standing = { tokens: tokens.value, point: point?.value }
  const { newly, crossed } = crossLines(standing, key, before, scene.config.budget)
  if (newly.length === 0) return
  scene.note({ crossed })
  const { conversation } = scene.event
  for (const stage of newly) {
    const known = {
      ...(point === undefined ? {} : { point: point.value }),
      ...(window === undefined ? {} : { window: window.value }),
    }
    const data = { conversation, stage, tokens: tokens.value, ...known, source: tokens.from }
    scene.record('budget.crossed', data, crossingKey(conversation, key, stage))
  }
  tell(scene, budget, newly)
}

/** Only of the furthest that was crossed: a jump over several is one thing to say. */
function tell(scene: Scene, budget: Budget, newly: readonly Line[]): void {
  const stage = newly.findLast((line) => line !== SMART_ZONE)
  if (stage === undefined) return scene.say(SMART_ZONE_ADVICE)
  const role = roleOf(stage as number, scene.config.budget)
  const progress = progressOf(scene)
  const { person, model: asked } = ADVICE[role]
  const model = role === 'suggest' && !scene.config.nudges.has('compaction') ? [] : asked
  scene.say({
    person: banner(stage, budget, { progress, advice: person }),
    model: banner(stage, budget, { progress, advice: model, isBare: true }),
  })
  if (role === 'suggest') oweHandoff(scene, 'draft', 'the context fills up')
  if (role === 'force') oweHandoff(scene, 'handoff', 'the context is nearly full')
}

function progressOf({ state }: Scene): string {
  const { done, total } = stepCounts(state)
  return phaseLine(state) ?? `${state.name}${total === 0 ? '' : ` (${done}/${total} steps)`}`
}

const SMART_ZONE_ADVICE = {
  person:
    '📋 Past the smart zone: a long context costs more and is read less well. /clear at the next good point; the session goes on.',
  model:
    'Stint: this context has grown past what is read with full attention. A good point to stop is a good point to hand over.',
}

const ADVICE: Readonly<Record<Role, { person: readonly string[]; model: readonly string[] }>> = {
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
 * The tokens at which the next line is crossed: what a hook compares with before it looks any closer. 0 where it is
 * not known yet which model this is; none where nothing is left to be crossed.
 */
export function nextAlert(scene: Scene): number | undefined {
  const { tokens, point } = budgetOf(scene)
  if (tokens === undefined && point === undefined) return 0
  const { stages, smartZone } = scene.config.budget
  const { crossed, windowNumber = 0 } = scene.tracking
  const isCrossed = (line: Line) =>
    crossed?.window === String(windowNumber) && crossed.lines.includes(line)
  const ahead = [
    ...(isCrossed(SMART_ZONE) ? [] : [smartZone]),
    ...stages
      .filter((stage) => !isCrossed(stage))
      .flatMap((stage) => tokensAt(stage, point?.value) ?? []),
  ]
  return ahead.length === 0 ? undefined : Math.min(...ahead)
}

/** Whether the last line was crossed in this window, at which a handoff is made. */
export function isHandedOver({ config, tracking }: Scene): boolean {
  const { crossed, windowNumber = 0 } = tracking
  const last = config.budget.stages.at(-1)
  return (
    last !== undefined && crossed?.window === String(windowNumber) && crossed.lines.includes(last)
  )
}
