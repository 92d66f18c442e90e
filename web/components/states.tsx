import type { ComponentChildren } from 'preact'
import type { ApiFailure } from '../data/failure.ts'
import type { Resource } from '../data/resource.ts'
import { WithCode } from './text.tsx'

/** Says what would be here and how to get it, usually with a command in `code`. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      <div class="state-text">{children}</div>
    </div>
  )
}

/** Placeholder lines. CSS delays them, so that a quick response does not flicker. */
function Loading({ label = 'Loading', lines = 6 }: { label?: string; lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="skeleton-line" />
      ))}
    </div>
  )
}

/** With `isView` it replaces the whole view and is its heading. */
export function FailureMessage({
  failure,
  retry,
  isView = false,
}: {
  failure: ApiFailure
  retry: () => void
  isView?: boolean
}) {
  const { problem } = failure
  const Title = isView ? 'h1' : 'p'
  return (
    <div class="state state-failure" role="alert">
      <Title class="state-title">
        <WithCode text={problem.message} />
      </Title>
      {problem.hint === undefined ? null : (
        <p class="state-text">
          <WithCode text={problem.hint} />
        </p>
      )}
      <button class="button" type="button" onClick={retry}>
        Try again
      </button>
    </div>
  )
}

/** Shown until the first value is loaded. */
export function Pending({
  failure,
  retry,
  isView = false,
  ...placeholder
}: {
  failure: ApiFailure | undefined
  retry: () => void
  isView?: boolean
  label?: string
  lines?: number
}) {
  if (failure === undefined) return <Loading {...placeholder} />
  return <FailureMessage failure={failure} retry={retry} isView={isView} />
}

/** A failure after a value was loaded is a line above the value. */
export function Loaded<T>({
  resource,
  children,
}: {
  resource: Resource<T>
  children: (value: T) => ComponentChildren
}) {
  const { value, failure, reload } = resource
  if (value === undefined) return <Pending failure={failure} retry={reload} />
  return (
    <>
      <Stale failure={failure} retry={reload} />
      {children(value)}
    </>
  )
}

export function Stale({ failure, retry }: { failure: ApiFailure | undefined; retry: () => void }) {
  if (failure === undefined) return null
  return (
    <p class="stale" role="alert">
      <span>
        Not up to date. <WithCode text={failure.problem.message} />
      </span>
      <button class="quiet-button" type="button" onClick={retry}>
        Try again
      </button>
    </p>
  )
}
