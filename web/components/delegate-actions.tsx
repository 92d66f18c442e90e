import { useState } from 'preact/hooks'
import type { DelegateActionResult, DelegateRow } from '../../src/serve/contract.ts'
import { useAction } from '../data/action.ts'
import { api } from '../data/api.ts'
import { type ConfirmRequest, useConfirm } from './confirm.tsx'
import { ProblemLine } from './problem-line.tsx'
import { Text } from './text.tsx'

type Move = 'merge' | 'stop' | 'retry' | 'discard'

/** What may be done with one, by where it stands; the server has the last word. */
const MOVES: Readonly<Record<DelegateRow['status'], readonly Move[]>> = {
  running: ['stop'],
  merging: [],
  ready: ['merge', 'discard'],
  conflicted: ['retry', 'merge', 'discard'],
  failed: ['retry', 'discard'],
  parked: ['retry', 'discard'],
  merged: [],
  discarded: [],
}

const WORDS: Readonly<Record<Move, string>> = {
  merge: 'Merge',
  stop: 'Stop',
  retry: 'Retry',
  discard: 'Discard',
}

/** Buttons for what can be done now, each with a question before it. */
export function DelegateActions({ row, changed }: { row: DelegateRow; changed: () => void }) {
  const { dialog, confirm } = useConfirm()
  const { isBusy, failure, run } = useAction()
  const [answer, setAnswer] = useState<DelegateActionResult>()
  const moves = MOVES[row.status].filter((move) => move !== 'merge' || !row.isReadOnly)
  const act = async (move: Move): Promise<void> => {
    if ((await confirm(questionFor(move, row))) === undefined) return
    setAnswer(undefined)
    setAnswer(await run(() => api.moveDelegate(row.id, move)))
    changed()
  }
  return (
    <div class="actions">
      {moves.map((move, index) => (
        <button
          key={move}
          class="button button-small"
          type="button"
          data-tone={index === 0 && move === 'merge' ? 'accent' : undefined}
          aria-label={`${WORDS[move]} ${row.name}`}
          disabled={isBusy}
          onClick={() => void act(move)}
        >
          {isBusy && move === moves[0] ? 'Working…' : WORDS[move]}
        </button>
      ))}
      <ProblemLine failure={failure} />
      {answer !== undefined && 'how' in answer ? <Outcome answer={answer} /> : null}
      {dialog}
    </div>
  )
}

function Outcome({ answer }: { answer: Extract<DelegateActionResult, { readonly how: string }> }) {
  const files = answer.files ?? []
  return (
    <p class="outcome small" role="status" data-tone={answer.how === 'merged' ? 'good' : 'warn'}>
      {answer.how === 'merged'
        ? `Merged into ${answer.target}.`
        : `${answer.how.replace(/^./, (letter) => letter.toUpperCase())}.`}{' '}
      {answer.because === undefined ? null : <Text>{answer.because}</Text>}
      {files.length === 0 ? null : <span class="mono"> {files.join(', ')}</span>}
      {answer.isSentBack === true ? ' It was sent back with that.' : ''}
    </p>
  )
}

function questionFor(move: Move, row: DelegateRow): ConfirmRequest {
  const name = <strong>{row.name}</strong>
  switch (move) {
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
