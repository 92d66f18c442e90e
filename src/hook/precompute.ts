import { packContext } from '../context/pack.ts'
import { lineForPerson } from '../context/person-line.ts'
import { vocabularyOf } from '../context/related.ts'
import { readProjectContext } from '../context/survey/remembered.ts'
import { contentWords } from '../context/words.ts'
import { replaceUnsynced } from '../journal/files.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import type { SessionState } from '../session/state.ts'
import { defined } from '../text/defined.ts'
import { injectionOf } from './inject.ts'
import { checkpointResponse } from './pre-compact.ts'
import { type Precomputed, THIS_BUILD, precomputedPath } from './precomputed.ts'

const MOST_WORDS = 2000
const CONVERSATIONS = 2

/** Computes what the next hooks of a session will answer. */
export function precompute(session: LiveSession, conversation: string): void {
  const { state, end } = session.openTo()
  const { inode } = session.log.identity()
  const value = precomputedFor(session, state, conversation, { inode, size: end })
  replaceUnsynced(precomputedPath(session.place, session.id), JSON.stringify(value))
}

function precomputedFor(
  session: LiveSession,
  state: SessionState,
  conversation: string,
  log: Precomputed['log'],
): Precomputed {
  const project = readProjectContext(session.place)
  const compacted = { ...state, compactions: state.compactions + 1 }
  const known = state.conversations.items.map(({ text }) => text)
  // To a conversation that begins, the last words are another's.
  const started = packContext(state, {
    level: 'start',
    conversation: 'to be',
    ...defined({ project }),
  })
  const resumed = packContext(compacted, { level: 'full', conversation })
  return {
    build: THIS_BUILD,
    log,
    conversation,
    isJoined: known.includes(conversation),
    conversations: known.slice(-CONVERSATIONS),
    git: state.git,
    start: { ...injectionOf(started, session, state), person: lineForPerson(state) },
    compacted: { ...injectionOf(resumed, session, compacted), person: lineForPerson(compacted) },
    checkpoint: checkpointResponse(state),
    words: [...contentWords(vocabularyOf(state))].slice(0, MOST_WORDS),
  }
}
