// Reminders that the journal is there. Advisory, at most one at a time, each once in a window and never two
// within ten minutes: an agent that is nagged stops listening.
import { looksLikeDecision, looksLikeEnding } from '../context/ruling.ts'
import { looksUnrelated } from '../context/related.ts'
import type { Nudge } from '../project/config.ts'
import { readWindow } from '../conversation/window.ts'
import type { Scene } from './scene.ts'

const APART_MS = 10 * 60_000
const UNLOGGED_EDITS = 5
const NEARLY_FULL = 75

export function nudgeAtPrompt(scene: Scene, prompt: string): void {
  const { state, tracking } = scene
  if (looksUnrelated(prompt, state)) {
    const other = `this looks like other work than "${state.name}"`
    nudge(scene, 'unrelated', {
      person: `📋 ${other}: /session-pause sets it down, /session-init starts another`,
      model: `Stint: ${other}; unrelated work in one context costs both. The person may want \`stint pause\` and \`stint init\` first.`,
    })
  } else if (hasSwitched(scene)) {
    nudge(scene, 'switching', {
      model: `Stint: the branch is now ${scene.head.branch}, and session ${state.name} is of ${state.branch}. What is unfinished there is kept by \`stint log --next TEXT\`.`,
    })
  } else if (looksLikeEnding(prompt)) {
    nudge(scene, 'ending', {
      model: 'Stint: before work ends, `stint log --progress TEXT --next TEXT` keeps where it stands for the next conversation.',
    })
  } else if ((readWindow(scene.notes, tracking.conversation)?.usedPercent ?? 0) >= NEARLY_FULL) {
    nudge(scene, 'compaction', {
      model:
        'Stint: the context is nearly full. What only this conversation knows is kept past compaction by `stint log --key TEXT`, `--decision TEXT --rationale TEXT`, `--discovery TEXT`.',
    })
  } else if (looksLikeDecision(prompt)) {
    nudge(scene, 'decision', {
      model: 'Stint: a choice with its reason is kept by `stint log --decision TEXT --rationale TEXT`.',
    })
  } else if (/\?\s*$/.test(state.lastTurn?.said ?? '') && state.lastTurn?.conversation === tracking.conversation) {
    nudge(scene, 'question', {
      model:
        'Stint: if this answers a question that the work waited for, `stint log --decision TEXT --rationale TEXT` keeps the answer.',
    })
  }
}

export function nudgeAtEdit(scene: Scene): void {
  const edits = scene.tracking.edits + 1
  scene.note({ edits })
  if (edits < UNLOGGED_EDITS) return
  nudge(scene, 'edits', {
    model: `Stint: ${edits} edits since the journal was last written to. What was done, decided or found is kept by \`stint log --progress TEXT\`, \`--decision TEXT --rationale TEXT\`, \`--discovery TEXT\`.`,
  })
}

function nudge(scene: Scene, kind: Nudge, text: { model: string; person?: string }): void {
  const { nudged, nudgedAt } = scene.tracking
  if (!scene.config.nudges.has(kind) || nudged.includes(kind)) return
  if (nudgedAt !== undefined && Date.parse(scene.now) - Date.parse(nudgedAt) < APART_MS) return
  scene.note({ nudged: [...nudged, kind], nudgedAt: scene.now })
  scene.say(text)
}

function hasSwitched({ head, state }: Scene): boolean {
  return head.branch !== undefined && state.branch !== undefined && head.branch !== state.branch
}
