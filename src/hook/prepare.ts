import { type PackedContext, packContext } from '../context/pack.ts'
import { lineForPerson } from '../context/person-line.ts'
import { vocabularyOf } from '../context/related.ts'
import { textForSummariser } from '../context/summariser.ts'
import { contentWords } from '../context/words.ts'
import { replaceUnsynced } from '../journal/files.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import type { SessionState } from '../session/state.ts'
import { readProjectContext } from '../context/survey/remembered.ts'
import { essenceOf } from './essence.ts'
import { isPinned } from './pinned.ts'
import { type Prepared, THIS_BUILD, preparedPath } from './prepared.ts'
import { toldInstead } from './told-instead.ts'

const MOST_WORDS = 2000
const CONVERSATIONS = 2

/** Makes ready what the next hooks of a conversation may have to say. */
export function prepare(session: LiveSession, conversation: string): void {
  const { state, end } = session.openTo()
  const { inode } = session.log.identity()
  const prepared = preparedFor(session, state, conversation, { inode, size: end })
  replaceUnsynced(preparedPath(session.place, session.id), JSON.stringify(prepared))
}

function preparedFor(
  session: LiveSession,
  state: SessionState,
  conversation: string,
  log: Prepared['log'],
): Prepared {
  const text = readProjectContext(session.place)
  const project = text === undefined ? {} : { project: text }
  const textOf = ({ text: packed, mark }: PackedContext) => ({
    text: packed,
    mark,
    instead: toldInstead(packed, session, state),
  })
  const after = { ...state, compactions: state.compactions + 1 }
  const known = state.conversations.items.map(({ text }) => text)
  return {
    build: THIS_BUILD,
    log,
    conversation,
    isJoined: known.includes(conversation),
    conversations: known.slice(-CONVERSATIONS),
    git: state.git,
    person: lineForPerson(state),
    essence: essenceOf(state),
    // Whatever was said last, another conversation said it.
    start: textOf(packContext(state, { level: 'start', conversation: 'to be', ...project })),
    compacted: {
      ...textOf(packContext(after, { level: 'full', conversation })),
      person: lineForPerson(after),
      essence: essenceOf(after),
    },
    summariser: {
      text: textForSummariser(state, { compaction: state.compactions + 1 }),
      compaction: state.compactions + 1,
    },
    isPinned: isPinned(state),
    entryCount: state.entryCount,
    words: [...contentWords(vocabularyOf(state))].slice(0, MOST_WORDS),
  }
}
