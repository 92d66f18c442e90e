// What cannot be the same in two replays, and nothing else. Everything that the frozen project holds (its ids, commits and times) is
// compared as it is; only what a command makes anew is replaced.

/** The clock of every replay starts here, two days after the project was frozen. */
export const REPLAYED_AT = Date.parse('2026-03-05T10:00:00Z')

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\b20\d\d-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:[.-]\d{3})?Z/g
const DAY = 86_400_000

/** Ids of version 7 begin with their time, so that new ones are known. */
function isNew(id: string): boolean {
  const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return id[14] === '7' && at >= REPLAYED_AT && at < REPLAYED_AT + 10 * DAY
}

export class Normaliser {
  readonly #ids = new Set<string>()
  readonly #commits = new Set<string>()

  /** `frozen` is every text of the project as it was restored. */
  constructor(readonly frozen: string) {}

  /** Remembers new ids, from anything in which they stand whole: some outputs have only their ends. */
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
    // The sum of a log with new ids in it, as the last line of a document has it.
    result = result.replaceAll(/(?<=rendered from \d+ bytes )[0-9a-f]{8}/g, (sum) =>
      this.frozen.includes(sum) ? sum : '<sum>',
    )
    return result.replaceAll(TIME, (time) => (isReplayed(time) ? '<time>' : time))
  }
}

/** What an entry says of the process that wrote it, and how long something took. */
export function normaliseField(kind: string, name: string, value: unknown): unknown {
  // The estimate goes by the digits of new ids.
  if (kind === 'handoff.made' && name === 'tokens') return '<tokens>'
  if (name === 'pid' || name === 'startedAt' || name === 'ms' || name === 'seconds')
    return typeof value === 'object' ? value : `<${name}>`
  return name === 'mark' && /^[0-9a-f]{32}$/.test(String(value)) ? '<mark>' : value
}

/** On the clock of the replay, or on the real one, which the times of files go by. */
function isReplayed(time: string): boolean {
  const at = Date.parse(time.replace(/T(\d\d)[:-](\d\d)[:-](\d\d)[.-]?(\d{3})?Z/, 'T$1:$2:$3Z'))
  return (at >= REPLAYED_AT && at < REPLAYED_AT + 10 * DAY) || Math.abs(Date.now() - at) < DAY
}
