import type { DelegateLine } from '../session/state.ts'
import { oneLine, shorten } from '../text/clean.ts'

const ORDER = 120
const OUTCOME = 200

export function delegateText({ because, status, summary, text }: DelegateLine): string {
  const outcome =
    status === 'merged' || status === 'ready' ? (summary ?? because) : (because ?? summary)
  return [shorten(oneLine(text), ORDER), shorten(oneLine(outcome ?? ''), OUTCOME)]
    .filter((part) => part !== '')
    .join(' - ')
}

/** `tests (ready): write the tests - twelve, all red` */
export function delegateLine(line: DelegateLine): string {
  return `${delegateName(line)} (${line.status}): ${delegateText(line)}`.trimEnd()
}

/** Only characters that mean nothing in a document. */
export function delegateName({ delegate, name }: DelegateLine): string {
  return (
    oneLine(name).replaceAll(/[*()]/g, '').trim() ||
    oneLine(delegate).replaceAll(/[*()]/g, '').trim() ||
    'delegate'
  )
}
