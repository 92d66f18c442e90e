import { tokensAt } from '../context/budget/stages.ts'
import { DEFAULT_HARNESS } from '../harness/registry.ts'
import { computeBudget } from '../project/conversation/compute-budget.ts'
import { readContextWindow } from '../project/conversation/conversation-state.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import { workingFolder } from '../project/store/project-paths.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { defined } from '../text/defined.ts'
import type { TokenCurveData } from './page-types.ts'
import type { ConversationIndex, RequestUsage } from './conversation-index.ts'

/** The tokens that the next request reads. */
export function contextTokensAfter({
  usage: { input, cacheRead, cacheWritten, output },
}: RequestUsage): number {
  return input + cacheRead + cacheWritten + output
}

export function tokenCurve(
  { paths, config, env }: Workspace,
  conversation: ConversationIndex,
): TokenCurveData {
  const { contextSizes } = conversation
  const ownRequests = conversation.requestUsage.filter(({ isDelegated }) => !isDelegated)
  // Usage may be reported per turn; reported context sizes are more precise.
  const hasContextSizes = contextSizes.length > 0
  const sizes = hasContextSizes
    ? contextSizes
    : ownRequests.map((request) => ({
        tokens: contextTokensAfter(request),
        ...defined({ at: request.at }),
      }))
  const points = sizes.map(({ tokens, at }, index) => ({
    turn: index + 1,
    tokens,
    ...defined({ at }),
  }))
  const { stages, smartZone, window: configured } = config.budget
  const now = new Date().toISOString()
  const last = ownRequests.at(-1)
  const { harness = DEFAULT_HARNESS, model } = conversation.summary
  const budget = computeBudget({
    harness,
    window: readContextWindow(conversationStateFolder(paths), conversation.id),
    tail: defined({
      model,
      call: last === undefined ? undefined : defined({ usage: last.usage, at: last.at }),
    }) as never,
    configured,
    root: workingFolder(paths),
    env,
    now,
  })
  // A harness that reports no point compacts when the window is full.
  const window = contextSizes.at(-1)?.window ?? budget.window?.value
  const point = contextSizes.at(-1)?.point ?? contextSizes.at(-1)?.window ?? budget.point?.value
  return {
    points,
    compactions: conversation.compactions.map(
      ({ requestsBefore, contextSizesBefore, at, tokensBefore }) => ({
        turn: hasContextSizes ? contextSizesBefore : requestsBefore,
        ...defined({ at, tokensBefore }),
      }),
    ),
    smartZone,
    stages: stages.map((stage) => toStage(stage, point)),
    isPointMeasured: contextSizes.at(-1)?.point !== undefined || budget.point?.known === 'measured',
    ...defined({ point, window }),
  }
}

function toStage(stage: number, point: number | undefined) {
  const tokens = tokensAt(stage, point)
  const percent = stage <= 100 ? stage : point === undefined ? 0 : Math.round((stage / point) * 100)
  return { percent, ...defined({ tokens }) }
}
