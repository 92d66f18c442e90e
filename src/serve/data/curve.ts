import { tokensAt } from '../../budget/stages.ts'
import { knownBudget } from '../../conversation/known-budget.ts'
import { readWindow } from '../../conversation/window.ts'
import { trackingFolderOf } from '../../project/conversation-binding.ts'
import type { Workspace } from '../../project/workspace.ts'
import { given } from '../../text/json-fields.ts'
import type { TokenCurve } from '../contract.ts'
import { type ConversationIndex, contextAfter } from './conversation-index.ts'

/** How full the context was after each request, and the lines it is held against. */
export function curveOf({ place, config, env }: Workspace, conversation: ConversationIndex): TokenCurve {
  const own = conversation.used.filter(({ isDelegated }) => !isDelegated)
  const points = own.map((request, index) => ({ turn: index + 1, tokens: contextAfter(request), ...given({ at: request.at }) }))
  const { stages, smartZone, window: configured } = config.budget
  const now = new Date().toISOString()
  const last = own.at(-1)
  const { harness = 'claude', model } = conversation.summary
  const { point, window } = knownBudget({
    harness,
    window: readWindow(trackingFolderOf(place), conversation.id),
    tail: given({
      model,
      call: last === undefined ? undefined : given({ usage: last.usage, at: last.at }),
    }) as never,
    configured,
    root: place.repository?.worktree ?? place.root,
    env,
    now,
  })
  return {
    points,
    compactions: conversation.compactions.map(({ after, at, tokensBefore }) => ({ turn: after, ...given({ at, tokensBefore }) })),
    smartZone,
    stages: stages.map((stage) => stageOf(stage, point?.value)),
    isPointMeasured: point?.known === 'measured',
    ...given({ point: point?.value, window: window?.value }),
  }
}

function stageOf(stage: number, point: number | undefined): TokenCurve['stages'][number] {
  const tokens = tokensAt(stage, point)
  const percent = stage <= 100 ? stage : point === undefined ? 0 : Math.round((stage / point) * 100)
  return { percent, ...(tokens === undefined ? {} : { tokens }) }
}
