// Only files that have changed are read again. Holds numbers and ids alone, so that nothing has to be redacted. May be deleted at any time.
import { join } from 'node:path'
import { errnoOf } from '../journal/errors.ts'
import { replaceUnsynced } from '../journal/files.ts'
import { readOrUndefined, statOrUndefined } from '../journal/look.ts'
import type { Place } from '../project/store/place.ts'
import { objectOf, parseJson } from '../text/json-fields.ts'
import type { JournalAmounts } from './journal-amounts.ts'
import type { FirstEdit } from './resuming.ts'
import type { RunAmounts } from './run-amounts.ts'

/** Raise it when the same files give another result. */
export const VERSION = 2
const NAME = 'ledger.json'

interface Kinds {
  readonly journals: JournalAmounts
  readonly runs: RunAmounts | null
  readonly conversations: FirstEdit
}

interface Known<T> {
  readonly of: string
  readonly is: T
}

export class Remembered {
  readonly #path: string
  readonly #known: { readonly [K in keyof Kinds]: Map<string, Known<Kinds[K]>> }
  readonly #used = {
    journals: new Set<string>(),
    runs: new Set<string>(),
    conversations: new Set<string>(),
  }
  #isChanged = false

  constructor({ sessions, repository }: Place) {
    // Where neither git nor `git clean` touches it.
    this.#path = join(
      repository === undefined ? sessions : join(repository.commonDir, 'stint'),
      NAME,
    )
    const file = objectOf(parseJson(readOrUndefined(this.#path)?.toString('utf8') ?? ''))
    const kept = file?.['version'] === VERSION ? file : {}
    const mapOf = (kind: keyof Kinds) =>
      new Map(Object.entries(objectOf(kept[kind]) ?? {})) as Map<string, never>
    this.#known = {
      journals: mapOf('journals'),
      runs: mapOf('runs'),
      conversations: mapOf('conversations'),
    }
  }

  /** Undefined for a missing file. */
  get<K extends keyof Kinds>(
    kind: K,
    id: string,
    paths: readonly (string | undefined)[],
    count: () => Kinds[K],
  ): Kinds[K] | undefined {
    const of = paths.map(identityOf).find((identity) => identity !== undefined)
    if (of === undefined) return undefined
    this.#used[kind].add(id)
    const known = this.#known[kind].get(id)
    if (known?.of === of) return known.is
    const is = count()
    this.#known[kind].set(id, { of, is })
    this.#isChanged = true
    return is
  }

  keep(): void {
    for (const kind of Object.keys(this.#used) as (keyof Kinds)[]) {
      for (const id of this.#known[kind].keys()) {
        if (this.#used[kind].has(id)) continue
        this.#known[kind].delete(id)
        this.#isChanged = true
      }
    }
    if (!this.#isChanged) return
    const { journals, runs, conversations } = this.#known
    const kept = { version: VERSION, ...mapped({ journals, runs, conversations }) }
    try {
      replaceUnsynced(this.#path, `${JSON.stringify(kept)}\n`)
    } catch (error) {
      // Full or read-only disk: it is counted again next time.
      if (errnoOf(error) === undefined) throw error
    }
  }
}

function mapped(kinds: Readonly<Record<string, Map<string, unknown>>>) {
  return Object.fromEntries(
    Object.entries(kinds).map(([name, map]) => [name, Object.fromEntries(map)]),
  )
}

function identityOf(path: string | undefined) {
  const stat = path === undefined ? undefined : statOrUndefined(path)
  return stat === undefined ? undefined : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
