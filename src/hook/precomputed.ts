// Responses of the next hooks, precomputed in the background, so that a hook need not open the
// session. If missing, outdated or of another build, the handler runs.
import { join } from 'node:path'
import { readJson, statOrUndefined } from '../journal/read-files.ts'
import { journalFolder, type ProjectPaths } from '../project/store/project-paths.ts'
import type { GitState } from '../session/entries.ts'
import { packContext, textForSummariser } from '../context/injected-context.ts'
import { lineForPerson } from '../context/person-line.ts'
import { wordsOfState } from '../context/intent/unrelated-work.ts'
import { readProjectContext } from '../context/survey/cached-project-context.ts'
import { replaceUnsynced } from '../journal/write-files.ts'
import { THIS_BUILD } from '../project/config/this-build.ts'
import type { SessionState } from '../session/state.ts'
import { defined } from '../text/defined.ts'
import type { FoundSession } from './find-session.ts'
import { type Injection, buildInjection } from './inject.ts'

export interface Precomputed {
  /** Another build may respond differently. */
  readonly build: string
  /** A clone may bring this file, but cannot know where and when its log lands on this disk. */
  readonly log: { readonly inode: number; readonly size: number; readonly mtimeMs: number }
  readonly conversation: string
  readonly isJoined: boolean
  /** The two latest. */
  readonly conversations: readonly string[]
  readonly git: GitState
  readonly start: StartResponse
  /** For this conversation after its next compaction. */
  readonly compacted: StartResponse
  readonly checkpoint: CheckpointResponse
  readonly words: readonly string[]
  /** Nothing was recorded since the document was rendered. */
  readonly isRendered: boolean
}

export interface StartResponse extends Injection {
  readonly person: string
}

export interface CheckpointResponse {
  readonly compaction: number
  readonly text: string
  /** Nothing was recorded since the last checkpoint. */
  readonly isPinned: boolean
  readonly entryCount: number
}

export function precomputedPath(paths: ProjectPaths, session: string): string {
  return join(journalFolder(paths, session), 'prepared.json')
}

export function readPrecomputed(paths: ProjectPaths, session: string): Precomputed | undefined {
  const value = readJson(precomputedPath(paths, session)) as Precomputed | undefined
  return value?.build === THIS_BUILD ? value : undefined
}

/** Undefined if the log has grown since. */
export function readValidPrecomputed(
  paths: ProjectPaths,
  session: string,
): Precomputed | undefined {
  const value = readPrecomputed(paths, session)
  if (value === undefined) return undefined
  const stat = statOrUndefined(join(journalFolder(paths, session), 'log.jsonl'))
  const { inode, size, mtimeMs } = value.log
  return stat?.ino === inode && stat.size === size && stat.mtimeMs === mtimeMs ? value : undefined
}

const MAX_WORDS = 2000
const MAX_CONVERSATIONS = 2

export function precompute(
  { session, state, end }: FoundSession,
  conversation: string,
  isRendered: boolean,
): void {
  const project = readProjectContext(session.paths)
  const compacted = { ...state, compactions: state.compactions + 1 }
  const known = state.conversations.items.map(({ text }) => text)
  // For a new conversation, the last words come from another one.
  const { isForeign } = session.log
  const started = packContext(state, {
    isForeign,
    conversation: 'to be',
    ...defined({ project }),
  })
  const resumed = packContext(compacted, { conversation, isForeign })
  const value: Precomputed = {
    build: THIS_BUILD,
    log: { ...session.log.identity(), size: end },
    conversation,
    isJoined: known.includes(conversation),
    conversations: known.slice(-MAX_CONVERSATIONS),
    git: state.git,
    start: { ...buildInjection(started, session, state), person: lineForPerson(state) },
    compacted: { ...buildInjection(resumed, session, compacted), person: lineForPerson(compacted) },
    checkpoint: checkpointResponse(state),
    words: [...wordsOfState(state)].slice(0, MAX_WORDS),
    isRendered,
  }
  replaceUnsynced(precomputedPath(session.paths, session.id), JSON.stringify(value))
}

function checkpointResponse(state: SessionState): CheckpointResponse {
  const compaction = state.compactions + 1
  return {
    compaction,
    text: textForSummariser(state, { compaction }),
    isPinned: isCheckpointCurrent(state),
    entryCount: state.entryCount,
  }
}

/** A handoff includes a checkpoint. */
export function isCheckpointCurrent({ checkpoints, handoffs, lastId }: SessionState): boolean {
  return [checkpoints, handoffs].some(({ items }) => items.at(-1)?.id === lastId)
}
