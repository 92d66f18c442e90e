import { workingFolder } from '../project/store/place.ts'
import { tokensAt } from '../context/budget/stages.ts'
import { DEFAULT_HARNESS } from '../harness/registry.ts'
import { knownBudget } from '../project/conversation/known-budget.ts'
import { readWindow } from '../project/conversation/tracking.ts'
import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import type { Workspace } from '../project/store/workspace.ts'
import type { TokenCurve } from './contract.ts'
import { type ConversationIndex, contextAfter } from './conversation-index.ts'
import { defined } from '../text/defined.ts'

export function curveOf(
  { place, config, env }: Workspace,
  conversation: ConversationIndex,
): TokenCurve {
  const { told } = conversation
  const own = conversation.used.filter(({ isDelegated }) => !isDelegated)
  // Usage may be reported per turn; reported context sizes are more precise.
  const isTold = told.length > 0
  const sizes = isTold
    ? told
    : own.map((request) => ({ tokens: contextAfter(request), ...defined({ at: request.at }) }))
  const points = sizes.map(({ tokens, at }, index) => ({
    turn: index + 1,
    tokens,
    ...defined({ at }),
  }))
  const { stages, smartZone, window: configured } = config.budget
  const now = new Date().toISOString()
  const last = own.at(-1)
  const { harness = DEFAULT_HARNESS, model } = conversation.summary
  const known = knownBudget({
    harness,
    window: readWindow(trackingFolderOf(place), conversation.id),
    tail: defined({
      model,
      call: last === undefined ? undefined : defined({ usage: last.usage, at: last.at }),
    }) as never,
    configured,
    root: workingFolder(place),
    env,
    now,
  })
  // A harness that reports no point compacts when the window is full.
  const window = told.at(-1)?.window ?? known.window?.value
  const point = told.at(-1)?.point ?? told.at(-1)?.window ?? known.point?.value
  return {
    points,
    compactions: conversation.compactions.map(({ after, afterTold, at, tokensBefore }) => ({
      turn: isTold ? afterTold : after,
      ...defined({ at, tokensBefore }),
    })),
    smartZone,
    stages: stages.map((stage) => stageOf(stage, point)),
    isPointMeasured: told.at(-1)?.point !== undefined || known.point?.known === 'measured',
    ...defined({ point, window }),
  }
}

function stageOf(stage: number, point: number | undefined): TokenCurve['stages'][number] {
  const tokens = tokensAt(stage, point)
  const percent = stage <= 100 ? stage : point === undefined ? 0 : Math.round((stage / point) * 100)
  return { percent, ...defined({ tokens }) }
}
