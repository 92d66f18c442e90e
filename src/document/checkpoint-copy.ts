import { shortId } from '../journal/ids.ts'
import { fold } from '../session/fold.ts'
import type { RawEntry } from '../session/effective-entries.ts'
import type { Checkpoint, SessionState } from '../session/state.ts'
import { timeForFileName, formatToMinute } from '../text/times.ts'
import { modelOf } from './model.ts'
import { renderModel } from './render.ts'

/** Made from the entries up to each checkpoint in log order, so that a copy made again later is the same. */
export function checkpointCopies(
  sessionId: string,
  entries: readonly RawEntry[],
): ReadonlyMap<string, () => string> {
  const copies = new Map<string, () => string>()
  for (const [index, entry] of entries.entries()) {
    if (entry.kind !== 'checkpoint.made') continue
    copies.set(`${timeForFileName(entry.at)}-${shortId(entry.id)}.md`, () => {
      const state = fold(sessionId, entries.slice(0, index + 1))
      return renderCopy(
        state,
        state.checkpoints.items.find((checkpoint) => checkpoint.id === entry.id),
      )
    })
  }
  return copies
}

function renderCopy(state: SessionState, checkpoint: Checkpoint | undefined) {
  if (checkpoint === undefined) return ''
  const { git, code } = checkpoint
  const head = [
    `# Checkpoint: ${checkpoint.text === '' ? 'saved' : checkpoint.text.split('\n').join(' ')}`,
    '',
    `- Session: ${state.name} (${state.id})`,
    `- Time: ${formatToMinute(checkpoint.at)}`,
    `- Id: ${checkpoint.id}`,
    ...(git?.branch === undefined ? [] : [`- Branch: ${git.branch}`]),
    ...(git?.commit === undefined ? [] : [`- Commit: ${git.commit}`]),
    ...(code === undefined ? [] : [`- Code: ${code.ref} (${code.commit})`]),
    '',
  ]
  return `${head.join('\n')}${renderModel(modelOf(state))}`
}
