import { useState } from 'preact/hooks'
import type { DelegateActionResult, DelegateRow } from '../../src/serve/contract.ts'
import { useAction } from '../data/action.ts'
import { api } from '../data/api.ts'
import { type ConfirmRequest, useConfirm } from './confirm.tsx'
import { ProblemLine } from './problem-line.tsx'
import { Text } from './text.tsx'

type DelegateAction = 'merge' | 'stop' | 'retry' | 'discard'

/** The actions for each status; the server decides in the end. */
const ACTIONS: Readonly<Record<DelegateRow['status'], readonly DelegateAction[]>> = {
  running: ['stop'],
  merging: [],
  ready: ['merge', 'discard'],
  conflicted: ['retry', 'merge', 'discard'],
  failed: ['retry', 'discard'],
  parked: ['retry', 'discard'],
  merged: [],
  discarded: [],
}

const ACTION_LABELS: Readonly<Record<DelegateAction, string>> = {
  merge: 'Merge',
  stop: 'Stop',
  retry: 'Retry',
  discard: 'Discard',
}

export function DelegateActions({ row, changed }: { row: DelegateRow; changed: () => void }) {
  const { dialog, confirm } = useConfirm()
  const { isBusy, failure, run } = useAction()
  const [result, setResult] = useState<DelegateActionResult>()
  const actions = ACTIONS[row.status].filter((action) => action !== 'merge' || !row.isReadOnly)
  const act = async (action: DelegateAction): Promise<void> => {
    if ((await confirm(confirmRequest(action, row))) === undefined) return
    setResult(undefined)
    setResult(await run(() => api.moveDelegate(row.id, action)))
    changed()
  }
  return (
    <div class="actions">
      {actions.map((action, index) => (
        <button
          key={action}
          class="button button-small"
          type="button"
          data-tone={index === 0 && action === 'merge' ? 'accent' : undefined}
          aria-label={`${ACTION_LABELS[action]} ${row.name}`}
          disabled={isBusy}
          onClick={() => void act(action)}
        >
          {isBusy && action === actions[0] ? 'Working…' : ACTION_LABELS[action]}
        </button>
      ))}
      <ProblemLine failure={failure} />
      {result !== undefined && 'how' in result ? <Outcome result={result} /> : null}
      {dialog}
    </div>
  )
}

function Outcome({ result }: { result: Extract<DelegateActionResult, { readonly how: string }> }) {
  const files = result.files ?? []
  return (
    <p class="outcome small" role="status" data-tone={result.how === 'merged' ? 'good' : 'warn'}>
      {result.how === 'merged'
        ? `Merged into ${result.target}.`
        : `${result.how.replace(/^./, (letter) => letter.toUpperCase())}.`}{' '}
      {result.because === undefined ? null : <Text>{result.because}</Text>}
      {files.length === 0 ? null : <span class="mono"> {files.join(', ')}</span>}
      {result.isSentBack === true ? ' It was sent back with that.' : ''}
    </p>
  )
}

function confirmRequest(action: DelegateAction, row: DelegateRow): ConfirmRequest {
  const name = <strong>{row.name}</strong>
  switch (action) {
    case 'merge':
      return {
        title: `Merge ${row.name} into ${row.target}?`,
        text: (
          <>
            It is merged and verified in a worktree of its own first. Only when that is green does{' '}
            {row.target} move.
          </>
        ),
        action: 'Merge',
      }
    case 'stop':
      return {
        title: `Stop ${row.name}?`,
        text: (
          <>Its agent is ended now. What it did stays on {row.branch}; it can be begun again.</>
        ),
        action: 'Stop it',
        isDangerous: true,
      }
    case 'retry':
      return {
        title: `Begin ${row.name} again?`,
        text: <>{name} goes on where it was, with what went wrong. That uses tokens.</>,
        action: 'Begin again',
      }
    case 'discard':
      return {
        title: `Give ${row.name} up?`,
        text: (
          <>
            Its worktree and branch go. Its commits are kept under a reference and can be had back.
          </>
        ),
        action: 'Discard',
        isDangerous: true,
      }
  }
}
