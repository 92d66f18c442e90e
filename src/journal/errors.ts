import type { JournalRecord } from './record.ts'

/** An error a person or a program can act on; anything else thrown is a defect. */
export class StintError extends Error {
  override readonly name: string = 'StintError'
  constructor(
    readonly code: string,
    message: string,
    readonly hint?: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Nothing was written; a retry is safe. */
export class NotWritten extends StintError {
  override readonly name = 'NotWritten'
  constructor(
    readonly path: string,
    cause: unknown,
    /** Appending exactly these records never duplicates. */
    readonly records: readonly JournalRecord[] = [],
  ) {
    super('NOT_WRITTEN', `not saved: ${path}: ${messageOf(cause)}`, adviceFor(cause), { cause })
  }
}

/** The write may have happened; a retry with the same ids is safe and resolves it. */
export class OutcomeUnknown extends StintError {
  override readonly name = 'OutcomeUnknown'
  constructor(
    readonly path: string,
    cause: unknown,
    readonly records: readonly JournalRecord[] = [],
  ) {
    super(
      'OUTCOME_UNKNOWN',
      `it is not known whether this was saved: ${path}: ${messageOf(cause)}`,
      'stint view --entries shows whether it is there; if not, run the command again',
      { cause },
    )
  }
}

export class JournalMissing extends StintError {
  override readonly name = 'JournalMissing'
  constructor(readonly path: string) {
    super(
      'JOURNAL_MISSING',
      `there is no journal at ${path}`,
      'stint doctor lists the sessions that can be found',
    )
  }
}

export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, errno } = error as NodeJS.ErrnoException
  // Node has no name for EDQUOT and reports "Unknown system error -122"; macOS numbers it 69.
  if (errno === -122 || errno === -69) return 'EDQUOT'
  return code
}

export function isMissing(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

export function reasonOf(cause: unknown): string {
  return messageOf(cause)
}

function adviceFor(cause: unknown) {
  if (cause instanceof StintError) return cause.hint
  switch (errnoOf(cause)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk or quota is full; make room and run the same command again'
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return 'this folder cannot be written; check its permissions or mount'
    default:
      return undefined
  }
}

export interface PublicError {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

export function publicError(error: unknown): PublicError {
  if (error instanceof StintError) {
    const { code, message, hint } = error
    return hint === undefined ? { code, message } : { code, message, hint }
  }
  const message = messageOf(error)
  if (isSystemError(error)) return { code: 'SYSTEM', message }
  return {
    code: 'DEFECT',
    message: `this is a defect in stint, nothing recorded was lost: ${message}`,
  }
}

export function isSystemError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Undefined when the system refuses, as on a full or read-only disk. */
export function ignoreIoErrors<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}
