import { join } from 'node:path'
import { markTouched } from '../../index/touched.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId, shortId } from '../../journal/ids.ts'
import { Log } from '../../journal/log.ts'
import type { Damage, LogContents } from '../../journal/read.ts'
import { checksum } from '../../journal/record.ts'
import type { Draft } from '../../session/entries.ts'
import { NeedsFullFold, advance, fold } from '../../session/fold.ts'
import type { RawEntry } from '../../session/in-effect.ts'
import { type SessionState, isOpen } from '../../session/state.ts'
import { slug } from '../../text/clean.ts'
import type { Marker } from '../../document/grammar.ts'
import { renderDocument } from '../../document/render.ts'
import {
  type Opened,
  openAbridged,
  readKeptState,
  writeKeptState,
} from '../../document/snapshot.ts'
import { cleanDraft } from './clean-draft.ts'
import type { Config } from '../config/config.ts'
import { type Place, journalFolder, logPlace } from './place.ts'

const LONG_LOG = 128 * 1024
const KEPT_LAG = 4 * 1024
// Each is searched for in the log's bytes; folding all of them is quicker than many searches.
const MOST_ADVANCED = 100

/** A session's log and its folded state at one moment. */
export interface Reading {
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  readonly damage: readonly Damage[]
  readonly contents: LogContents
  readonly marker: Marker
}

/** One session, and the only way to append to its log. */
export class LiveSession {
  readonly log: Log
  readonly folder: string
  readonly #config: Config
  readonly #sayRedacted: (kinds: readonly string[]) => void
  #reading: Reading | undefined
  #keptEnd: number | undefined
  #document: (Pick<Reading, 'state' | 'marker'> & { readonly text: string }) | undefined

  constructor(
    readonly id: string,
    readonly place: Place,
    config: Config,
    sayRedacted: (kinds: readonly string[]) => void = () => undefined,
  ) {
    this.#sayRedacted = sayRedacted
    this.folder = journalFolder(place, id)
    this.log = new Log(logPlace(place, id))
    this.#config = config
  }

  get snapshotPath(): string {
    return join(this.folder, 'snapshot.json')
  }

  /** Reads the log's tail; long lists are cut to their recent end. */
  open(): SessionState {
    return this.openTo().state
  }

  openTo(): Opened {
    return openAbridged(this.id, this.log, this.snapshotPath)
  }

  /** The whole state of a long log, so that no command has to fold it again. */
  get keptStatePath(): string {
    return join(this.folder, 'state.kept')
  }

  keepState({ state, damage, marker }: Reading): void {
    const beginning = { end: marker.offset, sum: marker.sum, lastId: state.lastId }
    if (damage.length > 0 || beginning.end < LONG_LOG) return
    if (this.#keptEnd !== undefined && beginning.end - this.#keptEnd < KEPT_LAG) return
    writeKeptState(this.keptStatePath, { beginning, state })
    this.#keptEnd = beginning.end
  }

  read(): Reading {
    const kept = this.#reading === undefined ? readKeptState(this.keptStatePath) : undefined
    const contents = this.log.read(kept?.beginning)
    if (this.#reading?.contents === contents) return this.#reading
    if (kept?.beginning.end === contents.growth?.from) this.#keptEnd = kept?.beginning.end
    const known = this.#reading ?? kept
    const knownEnd = this.#reading?.contents.end ?? kept?.beginning.end
    const state = this.#stateOf(contents, knownEnd, known?.state)
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

  document({ state, marker }: Pick<Reading, 'state' | 'marker'>): string {
    if (this.#document?.state !== state || this.#document.marker !== marker)
      this.#document = { state, marker, text: renderDocument(state, marker) }
    return this.#document.text
  }

  /** Advances the known state where the appended entries only add to it. */
  #stateOf(contents: LogContents, knownEnd: number | undefined, known: SessionState | undefined) {
    const { growth, bytes } = contents
    if (known !== undefined && growth !== undefined && growth.from === knownEnd) {
      const before = bytes.subarray(0, knownEnd)
      // A state forgets old `once` keys, and what was retracted before it arrived.
      const isForeseen =
        growth.records.length > MOST_ADVANCED ||
        growth.records.some(
          ({ id, once }) =>
            before.includes(id) || (once !== undefined && before.includes(JSON.stringify(once))),
        )
      try {
        if (!isForeseen) return advance(known, growth.records)
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
    // A kept state that could not be advanced is replaced by the next refresh.
    this.#keptEnd = undefined
    return fold(this.id, contents.records)
  }

  /** For entries that refer to each other before they are written. */
  mint(): string {
    const id = mintId(this.log.lastId)
    this.log.sawId(id)
    return id
  }

  /** Returns the entries once they are durable. */
  append(drafts: readonly Draft[]): readonly RawEntry[] {
    if (drafts.length === 0) return []
    return this.#write(drafts, (cleaned) => this.log.append(cleaned))
  }

  create(drafts: readonly Draft[]): readonly RawEntry[] {
    return this.#write(drafts, (cleaned) => this.log.create(cleaned))
  }

  clean(drafts: readonly Draft[]): { drafts: readonly Draft[]; redacted: readonly string[] } {
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
    return join(this.place.sessions, isOpen(state) ? 'active' : 'archive', this.documentName(state))
  }

  documentName(state: SessionState): string {
    return `${nameForFiles(state)}-${shortId(this.id)}.md`
  }

  #write(
    drafts: readonly Draft[],
    write: (drafts: readonly Draft<never>[]) => readonly RawEntry[],
  ) {
    const cleaned = this.clean(drafts)
    // Before the append too: a kill in between would hide the entry from the index.
    markTouched(this.place.sessions, this.id)
    const entries = write(cleaned.drafts as readonly Draft<never>[])
    markTouched(this.place.sessions, this.id)
    if (cleaned.redacted.length > 0) this.#sayRedacted(cleaned.redacted)
    return entries
  }
}

/** A journal may come from elsewhere: its name must not lead out of the folder. */
export function nameForFiles({ name }: Pick<SessionState, 'name'>): string {
  return /^[a-z0-9-]{1,80}$/.test(name) ? name : slug(name)
}
