import { join } from 'node:path'
import { markTouched } from '../../index/touch-marks.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { Log } from '../../journal/log.ts'
import type { Damage, LogContents } from '../../journal/read-log.ts'
import { checksum } from '../../journal/record.ts'
import type { EntryDraft } from '../../session/entries.ts'
import { NeedsFullFold, advance, fold } from '../../session/fold.ts'
import type { RawEntry } from '../../session/effective-entries.ts'
import { type SessionState, isSessionOpen } from '../../session/state.ts'
import { nameFrom } from '../../text/redact.ts'
import type { DocumentMarker } from '../../document/grammar.ts'
import { renderDocument } from '../../document/render.ts'
import {
  type AbridgedState,
  readAbridgedState,
  readCachedState,
  writeCachedState,
} from '../../document/snapshot.ts'
import { cleanDraft } from './clean-draft.ts'
import type { Config } from '../config/config.ts'
import { type ProjectPaths, journalFolder, logPaths } from './project-paths.ts'

const LONG_LOG = 128 * 1024
const CACHE_LAG = 4 * 1024
// Each is searched for in the log's bytes; folding all of them is quicker than many searches.
const MAX_ADVANCED = 100

/** A session's log and its folded state at one moment. */
export interface SessionReading {
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  readonly damage: readonly Damage[]
  readonly contents: LogContents
  readonly marker: DocumentMarker
}

/** One session, and the only way to append to its log. */
export class LiveSession {
  readonly log: Log
  readonly folder: string
  readonly #config: Config
  readonly #reportRedacted: (kinds: readonly string[]) => void
  #reading: SessionReading | undefined
  #cachedEnd: number | undefined
  #document: (Pick<SessionReading, 'state' | 'marker'> & { readonly text: string }) | undefined

  constructor(
    readonly id: string,
    readonly paths: ProjectPaths,
    config: Config,
    reportRedacted: (kinds: readonly string[]) => void = () => undefined,
  ) {
    this.#reportRedacted = reportRedacted
    this.folder = journalFolder(paths, id)
    this.log = new Log(logPaths(paths, id))
    this.#config = config
  }

  /** It came with the repository, and the user has not agreed to it. */
  get isRefused(): boolean {
    return this.log.isForeign && this.log.paths.acceptsForeign?.() !== true
  }

  get snapshotPath(): string {
    return join(this.folder, 'snapshot.json')
  }

  /** Reads the log's tail; long lists are cut to their recent end. */
  open(): SessionState {
    return this.openTo().state
  }

  openTo(): AbridgedState {
    return readAbridgedState(this.id, this.log, this.snapshotPath)
  }

  /** The full state of a long log, so that no command has to fold it again. */
  get cachedStatePath(): string {
    return join(this.folder, 'state.kept')
  }

  cacheState({ state, damage, marker }: SessionReading): void {
    const beginning = { end: marker.offset, sum: marker.sum, lastId: state.lastId }
    if (damage.length > 0 || beginning.end < LONG_LOG) return
    if (this.#cachedEnd !== undefined && beginning.end - this.#cachedEnd < CACHE_LAG) return
    const { inode } = this.log.identity()
    writeCachedState(this.cachedStatePath, { inode, beginning, state })
    this.#cachedEnd = beginning.end
  }

  read(): SessionReading {
    const cached = this.#reading === undefined ? this.#readCachedState() : undefined
    const contents = this.log.read(cached?.beginning)
    if (this.#reading?.contents === contents) return this.#reading
    if (cached?.beginning.end === contents.growth?.from) this.#cachedEnd = cached?.beginning.end
    const previous = this.#reading ?? cached
    const previousEnd = this.#reading?.contents.end ?? cached?.beginning.end
    const state = this.#stateOf(contents, previousEnd, previous?.state)
    const { damage, end, bytes } = contents
    this.#reading = {
      state,
      get entries() {
        return contents.records
      },
      damage,
      contents,
      marker: { offset: end, sum: checksum(bytes.subarray(0, end)) },
    }
    return this.#reading
  }

  #readCachedState() {
    const cached = readCachedState(this.cachedStatePath)
    return cached?.inode === this.log.identity().inode ? cached : undefined
  }

  document({ state, marker }: Pick<SessionReading, 'state' | 'marker'>): string {
    if (this.#document?.state !== state || this.#document.marker !== marker)
      this.#document = { state, marker, text: renderDocument(state, marker) }
    return this.#document.text
  }

  /** Advances the previous state when the appended entries only add to it. */
  #stateOf(
    contents: LogContents,
    previousEnd: number | undefined,
    previous: SessionState | undefined,
  ) {
    const { growth, bytes } = contents
    if (previous !== undefined && growth !== undefined && growth.from === previousEnd) {
      const before = bytes.subarray(0, previousEnd)
      // A state forgets old `once` keys, and what was retracted before it arrived.
      const needsFullFold =
        growth.records.length > MAX_ADVANCED ||
        growth.records.some(
          ({ id, once }) =>
            before.includes(id) || (once !== undefined && before.includes(JSON.stringify(once))),
        )
      try {
        if (!needsFullFold) return advance(previous, growth.records)
      } catch (error) {
        if (!(error instanceof NeedsFullFold)) throw error
      }
    }
    if (contents.records.length === 0)
      throw new StintError(
        'SESSION_EMPTY',
        `nothing in the journal of session ${this.id} can be read`,
        'stint doctor shows the damage',
      )
    // A cached state that could not be advanced is replaced by the next refresh.
    this.#cachedEnd = undefined
    return fold(this.id, contents.records)
  }

  mint(): string {
    return this.log.mint()
  }

  /** Returns the entries once they are durable. */
  append(drafts: readonly EntryDraft[]): readonly RawEntry[] {
    if (drafts.length === 0) return []
    return this.#write(drafts, (cleaned) => this.log.append(cleaned))
  }

  create(drafts: readonly EntryDraft[]): readonly RawEntry[] {
    return this.#write(drafts, (cleaned) => this.log.create(cleaned))
  }

  clean(drafts: readonly EntryDraft[]): {
    drafts: readonly EntryDraft[]
    redacted: readonly string[]
  } {
    const cleaned = drafts.map((draft) => cleanDraft(draft, this.#config))
    return {
      drafts: cleaned.map(({ draft }) => draft),
      redacted: [...new Set(cleaned.flatMap(({ redacted }) => redacted))],
    }
  }

  close(): void {
    this.log.close()
  }

  documentPath(state: SessionState): string {
    return join(
      this.paths.sessions,
      isSessionOpen(state) ? 'active' : 'archive',
      this.documentName(state),
    )
  }

  documentName(state: SessionState): string {
    return `${nameForFiles(state)}-${shortId(this.id)}.md`
  }

  #write(
    drafts: readonly EntryDraft[],
    write: (drafts: readonly EntryDraft<never>[]) => readonly RawEntry[],
  ) {
    const cleaned = this.clean(drafts)
    // Before the append too: a kill in between would hide the entry from the index.
    markTouched(this.paths.sessions, this.id)
    const entries = write(cleaned.drafts as readonly EntryDraft<never>[])
    markTouched(this.paths.sessions, this.id)
    if (cleaned.redacted.length > 0) this.#reportRedacted(cleaned.redacted)
    return entries
  }
}

/** A name in a journal from elsewhere must not lead out of the folder. */
export function nameForFiles({ name }: Pick<SessionState, 'name'>): string {
  return /^[a-z0-9-]{1,80}$/.test(name) ? name : nameFrom(name)
}
