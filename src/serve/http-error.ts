import { StintError, publicError } from '../library.ts'
import type { Problem } from './contract.ts'

export type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 500

export class HttpError extends StintError {
  override readonly name = 'HttpError'
  constructor(
    readonly status: ErrorStatus,
    code: string,
    message: string,
    hint?: string,
  ) {
    super(code, message, hint)
  }
}

const BAD_REQUEST_CODES: ReadonlySet<string> = new Set([
  'EMPTY_TEXT',
  'NEEDS_NAME',
  'BUDGET_OUT_OF_RANGE',
  'HARNESS_NOT_OFFERED',
])

export function statusOf(error: unknown): ErrorStatus {
  if (error instanceof HttpError) return error.status
  if (!(error instanceof StintError)) return 500
  if (BAD_REQUEST_CODES.has(error.code)) return 400
  if (error.code === 'NOT_THERE') return 404
  if (error.code === 'CURSOR_GONE') return 410
  if (error.code.startsWith('NO_') || error.code.endsWith('_NOT_FOUND')) return 404
  return 409
}

/** A defect's stack is for the terminal only. */
export function toProblem(error: unknown): Problem {
  const problem = publicError(error)
  if (problem.code !== 'DEFECT') return problem
  return {
    code: 'DEFECT',
    message: 'this is a defect in stint, nothing recorded was lost',
    hint: 'the terminal of stint serve has more',
  }
}
