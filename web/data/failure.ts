import type { Problem } from '../../src/serve/contract.ts'

/** `status` is 0 when there was no response. */
export class ApiFailure extends Error {
  readonly problem: Problem
  readonly status: number

  constructor(problem: Problem, status: number) {
    super(problem.message)
    this.problem = problem
    this.status = status
  }
}

export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error
  return new ApiFailure(
    { code: 'defect', message: error instanceof Error ? error.message : String(error) },
    0,
  )
}
