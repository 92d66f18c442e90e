import {
  type ContextExplanation,
  MIN_BUDGET,
  type PackedContext,
  explainContext,
  packContext,
} from '../context/injected-context.ts'
import { estimateTokens } from '../text/tokens.ts'
import { StintError } from '../journal/errors.ts'
import { chooseSession } from './store/choose-session.ts'
import { projectText } from './lifecycle/resume.ts'
import type { Workspace } from './store/workspace.ts'
import { isRefusedJournal, logPaths } from './store/project-paths.ts'
import { ForeignJournal, isOwnLog } from '../journal/log.ts'
import { defined } from '../text/defined.ts'

const MAX_BUDGET = 20_000
const DEFAULT_TOKENS = 2000

export interface PackRequest {
  readonly session?: string
  /** 2000 by default. */
  readonly budget?: number
  readonly explain?: boolean
}

export interface PackedSession extends PackedContext {
  readonly name: string
  readonly budget: number
  readonly tokens: number
  readonly explanation?: ContextExplanation
}

/** The context a model would get within a token budget. */
export async function packSession(
  workspace: Workspace,
  request: PackRequest = {},
): Promise<PackedSession> {
  const { budget = DEFAULT_TOKENS } = request
  if (!Number.isInteger(budget) || budget < MIN_BUDGET || budget > MAX_BUDGET) {
    throw new StintError(
      'BUDGET_OUT_OF_RANGE',
      `a budget of ${budget} tokens cannot be kept`,
      `give a whole number from ${MIN_BUDGET} to ${MAX_BUDGET}`,
    )
  }
  const { id } = await chooseSession(workspace, request.session)
  if (isRefusedJournal(workspace.paths, id))
    throw new ForeignJournal(logPaths(workspace.paths, id).path)
  const { state } = await workspace.view(id)
  const project = projectText(workspace)
  const isForeign = !isOwnLog(logPaths(workspace.paths, id))
  const options = { budget, isForeign, ...defined({ project }) }
  const packed = packContext(state, options)
  return {
    ...packed,
    name: state.name,
    budget,
    tokens: estimateTokens(packed.text),
    ...(request.explain === true ? { explanation: explainContext(state, options) } : {}),
  }
}
