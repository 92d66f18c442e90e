import { looksUnrelated } from '../context/related.ts'
import { looksLikeDecision, looksLikeEnding } from '../context/ruling.ts'
import { safeLine } from '../text/safe-text.ts'
import { shorten } from '../text/clean.ts'
import { nudge } from './nudges.ts'
import { hasAsked, hasSwitched } from './asked.ts'
import type { Scene } from './scene.ts'

/** At most one of what a prompt may call for. */
export function nudgeAtPrompt(scene: Scene, prompt: string): void {
  const { state } = scene
  if (looksUnrelated(prompt, state)) {
    const other = `this looks like other work than "${named(state.name)}"`
    nudge(scene, 'unrelated', {
      person: `📋 ${other}: /session-pause sets it down, /session-init starts another`,
      model: `Stint: ${other}; unrelated work in one context costs both. The person may want \`stint pause\` and \`stint init\` first.`,
    })
  } else if (hasSwitched(scene)) {
    nudge(scene, 'switching', {
      model: `Stint: the branch is now ${named(scene.head.branch)}, and session ${named(state.name)} is of ${named(state.branch)}. What is unfinished there is kept by \`stint log --next TEXT\`.`,
    })
  } else if (looksLikeEnding(prompt)) {
    nudge(scene, 'ending', {
      model:
        'Stint: before work ends, `stint log --progress TEXT --next TEXT` keeps where it stands for the next conversation.',
    })
  } else if (looksLikeDecision(prompt)) {
    nudge(scene, 'decision', {
      model:
        'Stint: a choice with its reason is kept by `stint log --decision TEXT --rationale TEXT`.',
    })
  } else if (hasAsked(scene)) {
    nudge(scene, 'question', {
      model:
        'Stint: if this answers a question that the work waited for, `stint log --decision TEXT --rationale TEXT` keeps the answer.',
    })
  }
}

/** A name as text: branches come from anywhere, and this stands outside of any fence. */
function named(name: string | undefined): string {
  return shorten(safeLine(name ?? ''), 80)
}
