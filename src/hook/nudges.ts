// Reminders to use the journal: one at a time, each once per window, at least ten minutes apart. An
// agent that is nagged stops listening.
import { looksLikeDecision, looksLikeEnding } from '../context/intent/ruling.ts'
import type { Nudge } from '../project/config/config.ts'
import { shorten } from '../text/clean.ts'
import { safeLine } from '../text/safe-text.ts'
import type { HookContext } from './hook-context.ts'
import type { SessionContext } from './session-context.ts'

const MIN_INTERVAL_MS = 10 * 60_000
export const UNLOGGED_EDITS = 5
/** In characters. */
export const LARGE_OUTPUT = 12_000

export function nudgeAtEdit(context: HookContext): void {
  const { edits } = countEdit(context)
  if (edits < UNLOGGED_EDITS) return
  nudge(context, 'edits', {
    model: `Stint: ${edits} edits since the journal was last written to. What was done, decided or found is kept by \`stint log --progress TEXT\`, \`--decision TEXT --rationale TEXT\`, \`--discovery TEXT\`.`,
  })
}

export function countEdit(context: HookContext): { edits: number; isDue: boolean } {
  const edits = context.conversationState.edits + 1
  context.update({ edits })
  return { edits, isDue: edits >= UNLOGGED_EDITS && mayNudge(context, 'edits') }
}

/** The first large output may be an exception, so it causes no nudge. */
export function nudgeAtLargeOutput(context: HookContext): void {
  const largeOutputs = (context.conversationState.largeOutputs ?? 0) + 1
  context.update({ largeOutputs })
  if (largeOutputs < 2) return
  nudge(context, 'output', {
    model:
      'Stint: outputs as long as this fill the context. `stint digest -- COMMAND` runs a command, prints what matters of it, and keeps the rest to be looked up.',
  })
}

type PromptNudge = 'unrelated' | 'switching' | 'ending' | 'decision' | 'question'

export function dueNudge(
  context: HookContext,
  prompt: string,
  session: { isUnrelated: () => boolean; hasSwitched?: boolean; hasAsked?: boolean },
): PromptNudge | undefined {
  if (isTooSoon(context)) return undefined
  const kind = session.isUnrelated()
    ? 'unrelated'
    : session.hasSwitched === true
      ? 'switching'
      : looksLikeEnding(prompt)
        ? 'ending'
        : looksLikeDecision(prompt)
          ? 'decision'
          : session.hasAsked === true
            ? 'question'
            : undefined
  return kind !== undefined && mayNudge(context, kind) ? kind : undefined
}

export function nudgeAtPrompt(context: SessionContext, kind: PromptNudge): void {
  const { state, head } = context
  const name = safeName(state.name)
  const texts: Readonly<Record<PromptNudge, { model: string; person?: string }>> = {
    unrelated: {
      person: `📋 This looks unrelated to "${name}". Stint saves a handoff; /clear now pauses it and starts fresh, and /session-resume ${name} brings it back.`,
      model: `Stint: this request looks unrelated to session "${name}". The user was offered /clear, which pauses that session; until then, keep the two apart and do not log this work to it.`,
    },
    switching: {
      model: `Stint: the branch is now ${safeName(head.branch)}, and session ${safeName(state.name)} is of ${safeName(state.branch)}. What is unfinished there is kept by \`stint log --next TEXT\`.`,
    },
    ending: {
      model:
        'Stint: before work ends, `stint log --progress TEXT --next TEXT` keeps where it stands for the next conversation.',
    },
    decision: {
      model:
        'Stint: a choice with its reason is kept by `stint log --decision TEXT --rationale TEXT`.',
    },
    question: {
      model:
        'Stint: if this answers a question that the work waited for, `stint log --decision TEXT --rationale TEXT` keeps the answer.',
    },
  }
  nudge(context, kind, texts[kind])
}

/** A branch name is untrusted, and this text is not fenced. */
function safeName(name: string | undefined): string {
  return shorten(safeLine(name ?? ''), 80)
}

function nudge(context: HookContext, kind: Nudge, text: { model: string; person?: string }): void {
  if (!mayNudge(context, kind)) return
  context.update({
    nudged: [...context.conversationState.nudged, kind],
    nudgedAt: context.now,
  })
  context.respond(text)
}

function mayNudge(context: HookContext, kind: Nudge): boolean {
  const { config, conversationState, response } = context
  // Together with a context it could exceed the injection limit.
  if (response.model !== undefined || isTooSoon(context)) return false
  return config.nudges.has(kind) && !conversationState.nudged.includes(kind)
}

function isTooSoon({ conversationState: { nudgedAt }, now }: HookContext): boolean {
  return nudgedAt !== undefined && Date.parse(now) - Date.parse(nudgedAt) < MIN_INTERVAL_MS
}
