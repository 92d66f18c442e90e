import { join } from 'node:path'
import { markTouched } from '../../index/touched.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId, shortId } from '../../journal/ids.ts'
import { Log } from '../../journal/log.ts'
import type { Damage, LogContents } from '../../journal/read.ts'
import { checksum } from '../../journal/record.ts'
import type { Draft } from '../../session/entries.ts'
import { fold } from '../../session/fold.ts'
import type { RawEntry } from '../../session/in-effect.ts'
import { type SessionState, isOpen } from '../../session/state.ts'
import { slug } from '../../text/clean.ts'
import type { Marker } from '../../document/grammar.ts'
import { type Opened, openAbridged } from '../../document/snapshot.ts'
import { cleanDraft } from './clean-draft.ts'
import type { Config } from '../config/config.ts'
import { type Place, journalFolder, logPlace } from './place.ts'

/** A session's entries and what they amount to, at one moment. */
export interface Reading {
  readonly state: SessionState
  readonly entries: readonly RawEntry[]
  readonly damage: readonly Damage[]
  readonly contents: LogContents
  readonly marker: Marker
}

/** One session of a project: its log, and the only way to append to it. */
export class LiveSession {
  readonly log: Log
  readonly folder: string
  readonly #config: Config
  readonly #sayRedacted: (kinds: readonly string[]) => void

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

  /** The recent state, at the cost of reading the log's tail. Long lists are cut to their recent end. */
  open(): SessionState {
    return this.openTo().state
  }

  /** The same, with how far into the log it goes. */
  openTo(): Opened {
    return openAbridged(this.id, this.log, this.snapshotPath)
  }

  /** Everything, at the cost of reading all of the log. */
  read(): Reading {
    const contents = this.log.read()
    const state = fold(this.id, contents.records)
    if (contents.records.length === 0) {
      throw new StintError(
        'SESSION_EMPTY',
        `nothing in the journal of session ${this.id} can be read`,
        'stint doctor shows the damage',
      )
    }
    const marker = { offset: contents.end, sum: checksum(contents.bytes.subarray(0, contents.end)) }
    return { state, entries: contents.records, damage: contents.damage, contents, marker }
  }

  /** Mints an id later than every one seen, for entries that refer to each other before they are written. */
  mint(): string {
    const id = mintId(this.log.lastId)
    this.log.sawId(id)
    return id
  }

  /** Cleans, redacts and appends. Returns the entries once they are durable. */
  append(drafts: readonly Draft[]): readonly RawEntry[] {
    if (drafts.length === 0) return []
    return this.#write(drafts, (cleaned) => this.log.append(cleaned))
  }

  create(drafts: readonly Draft[]): readonly RawEntry[] {
    return this.#write(drafts, (cleaned) => this.log.create(cleaned))
  }

  /** Brings drafts into the form in which they are journalled. */
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

  /** Where the document of a state belongs. */
  documentPath(state: SessionState): string {
    return join(this.place.sessions, isOpen(state) ? 'active' : 'archive', this.documentName(state))
  }

  documentName(state: SessionState): string {
    return `${nameForFiles(state)}-${shortId(this.id)}.md`
  }

  #write(
    drafts: readonly Draft[],
    write: (drafts: readonly Draft<never>[]) => readonly RawEntry[],
  ): readonly RawEntry[] {
    const cleaned = this.clean(drafts)
    // Before the append: were it after, a kill in between would leave an entry the index never hears of.
    markTouched(this.place.sessions, this.id)
    const entries = write(cleaned.drafts as readonly Draft<never>[])
    markTouched(this.place.sessions, this.id)
    if (cleaned.redacted.length > 0) this.#sayRedacted(cleaned.redacted)
    return entries
  }
}

/** A journal may come from elsewhere, and no name in it is to lead out of a folder. */
export function nameForFiles({ name }: Pick<SessionState, 'name'>): string {
  return /^[a-z0-9-]{1,80}$/.test(name) ? name : slug(name)
}
