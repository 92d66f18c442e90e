import { shortId } from '../journal/ids.ts'
import { fold } from '../session/fold.ts'
import { type RawEntry, inEffect } from '../session/in-effect.ts'
import type { Checkpoint, SessionState } from '../session/state.ts'
import { fileSafe, minute } from '../text/times.ts'
import { modelOf } from './document/model.ts'
import { renderModel } from './document/render.ts'

/** The readable copies that a session's checkpoints leave behind, by file name. Each is made only when asked for. */
export function checkpointCopies(sessionId: string, entries: readonly RawEntry[]): ReadonlyMap<string, () => string> {
  const copies = new Map<string, () => string>()
  for (const entry of inEffect(entries)) {
    if (entry.kind !== 'checkpoint.made') continue
    copies.set(`${fileSafe(entry.at)}-${shortId(entry.id)}.md`, () => {
      const state = fold(
        sessionId,
        entries.filter((other) => other.id <= entry.id),
      )
      return renderCopy(
        state,
        state.checkpoints.items.find((checkpoint) => checkpoint.id === entry.id),
      )
    })
  }
  return copies
}

function renderCopy(state: SessionState, checkpoint: Checkpoint | undefined): string {
  if (checkpoint === undefined) return ''
  const { git, code } = checkpoint
  const head = [
    `# Checkpoint: ${checkpoint.text === '' ? 'saved' : checkpoint.text.split('\n').join(' ')}`,
    '',
    `- Session: ${state.name} (${state.id})`,
    `- Time: ${minute(checkpoint.at)}`,
    `- Id: ${checkpoint.id}`,
    ...(git?.branch === undefined ? [] : [`- Branch: ${git.branch}`]),
    ...(git?.commit === undefined ? [] : [`- Commit: ${git.commit}`]),
    ...(code === undefined ? [] : [`- Code: ${code.ref} (${code.commit})`]),
    '',
  ]
  return `${head.join('\n')}${renderModel(modelOf(state))}`
}
