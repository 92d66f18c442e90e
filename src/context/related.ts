import type { SessionState } from '../session/state.ts'
import { isSpoken } from './spoken.ts'
import { contentWords } from './words.ts'

const SUBSTANTIAL = 6
const ENOUGH = 12
/** Longer requests touch on everything. */
const LONGEST = 1500

/**
 * Whether a prompt asks for work that has nothing to do with the session's. Only where nothing at all speaks for
 * a relation: a warning that is wrong is worse than none.
 */
export function looksUnrelated(prompt: string, state: SessionState): boolean {
  if (prompt.length > LONGEST || !isSpoken(prompt) || !NEW_WORK.test(prompt.trim()) || REFERS_BACK.test(prompt)) return false
  // Words cannot be told apart where no spaces divide them.
  if (/[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7A3\u0E00-\u0E7F]/.test(prompt)) return false
  const asked = contentWords(prompt)
  if (asked.size < SUBSTANTIAL) return false
  const known = contentWords(vocabularyOf(state))
  return known.size >= ENOUGH && ![...asked].some((word) => known.has(word))
}

/** Everything a session says of what it is about. */
function vocabularyOf(state: SessionState): string {
  const lists = [
    state.steps,
    state.next,
    state.progress,
    state.requests,
    state.key,
    state.discoveries,
    state.blockers,
    state.keyFiles,
    state.changedFiles,
    state.commits,
    state.tests,
    state.notes,
  ]
  return [
    state.name,
    state.title,
    state.goal,
    state.branch ?? '',
    state.git.branch ?? '',
    state.tldr?.text ?? '',
    state.lastTurn?.said ?? '',
    ...state.tasks,
    ...lists.flatMap((shelf) => shelf.items.map((item) => item.text)),
    ...(state.changedFiles.leftOut ?? []),
    ...state.keyFiles.items.map((file) => file.description ?? ''),
    ...state.decisions.items.flatMap(({ text, context, options, choice, rationale }) => [
      text,
      context,
      options,
      choice,
      rationale,
    ]),
  ].join('\n')
}

const NEW_WORK =
  /^(?:(?:ok(?:ay)?|hi|hey|hello|great|thanks|please|now|so|perfect|cool|good)[,.!]? )*(?:(?:can|could|would|will) you (?:please )?|i(?:'d| would) like (?:you )?to |i want (?:you )?to |i need (?:you )?to |we need to |we should |let's |please )?(?:add|build|change|clean up|configure|convert|create|debug|delete|deploy|design|develop|document|draft|extend|extract|figure out|find|fix|generate|implement|improve|install|integrate|introduce|investigate|look into|make|migrate|move|optimi[sz]e|port|prepare|publish|redesign|refactor|remove|rename|replace|research|rewrite|set up|setup|split|style|support|translate|tune|update|upgrade|write)\b/i

// Whoever says "it" or "the tests" means what was spoken of.
const REFERS_BACK =
  /\b(?:it|its|it's|this|these|those|them|they|there|also|too|again|as well|and then|then|same|still|instead|another|previous|previously|earlier|above|other|rest|remaining|next|back|continue|the (?:tests?|errors?|bug|fix|failure|failing|change|changes|result|results|output|review|diff|branch|pr|pull request|build|ci|plan|list|session|summary|commit|message|code|script|readme|changelog))\b|\b(?:do|fix|for|with|of|in|to|about|like|on|from|after|use|using|change|remove|make|add|is|was) that\b|(?:^|[,;.] )that\b/i
