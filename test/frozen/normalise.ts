// Replaces only what differs between two replays. Everything that the frozen project holds (ids, commits and times) is
// compared unchanged.

/** The clock of every replay starts here, two days after the project was frozen. */
export const REPLAYED_AT = Date.parse('2026-03-05T10:00:00Z')

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\b20\d\d-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:[.-]\d{3})?Z/g
const DAY = 86_400_000

/** Version 7 ids start with their time, which identifies new ones. */
function isNew(id: string): boolean {
  const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return id[14] === '7' && at >= REPLAYED_AT && at < REPLAYED_AT + 10 * DAY
}

export class Normaliser {
  readonly #ids = new Set<string>()
  readonly #commits = new Set<string>()

  /** `frozen` holds every text of the restored project. */
  constructor(readonly frozen: string) {}

  /** Collects new ids from texts with the full id, because some outputs show only the end of one. */
  learn(text: string): void {
    for (const [id] of text.matchAll(UUID)) if (isNew(id)) this.#ids.add(id)
  }

  learnCommit(hash: string): void {
    this.#commits.add(hash)
  }

  text(text: string): string {
    this.learn(text)
    let result = text
    for (const id of this.#ids) result = result.replaceAll(id, '<id>')
    for (const id of this.#ids)
      result = result.replaceAll(
        new RegExp(`\\b(?:${id.slice(-6)}|${id.slice(0, 8)}|${id.slice(-8)})\\b`, 'g'),
        '<short>',
      )
    for (const hash of this.#commits)
      result = result.replaceAll(
        new RegExp(`\\b${hash.slice(0, 7)}[0-9a-f]{0,33}\\b`, 'g'),
        '<commit>',
      )
    // The hash of a text with new ids in it.
    result = result.replaceAll(/sha256:[0-9a-f]{64}/g, (hash) =>
      this.frozen.includes(hash) ? hash : 'sha256:<hash>',
    )
    // The checksum of a log with new ids, in the last line of a document.
    result = result.replaceAll(/(?<=rendered from \d+ bytes )[0-9a-f]{8}/g, (sum) =>
      this.frozen.includes(sum) ? sum : '<sum>',
    )
    return result.replaceAll(TIME, (time) => (isReplayed(time) ? '<time>' : time))
  }
}

/** Process data and durations in entries. */
export function normaliseField(kind: string, name: string, value: unknown): unknown {
  // The estimate depends on the digits of new ids.
  if (kind === 'handoff.made' && name === 'tokens') return '<tokens>'
  if (name === 'pid' || name === 'startedAt' || name === 'ms' || name === 'seconds')
    return typeof value === 'object' ? value : `<${name}>`
  return name === 'mark' && /^[0-9a-f]{32}$/.test(String(value)) ? '<mark>' : value
}

/** By the clock of the replay, or by the real one, which file times use. */
function isReplayed(time: string): boolean {
  const at = Date.parse(time.replace(/T(\d\d)[:-](\d\d)[:-](\d\d)[.-]?(\d{3})?Z/, 'T$1:$2:$3Z'))
  return (at >= REPLAYED_AT && at < REPLAYED_AT + 10 * DAY) || Math.abs(Date.now() - at) < DAY
}
