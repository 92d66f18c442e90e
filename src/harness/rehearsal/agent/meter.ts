import type { Usage } from '../../../session/entries.ts'

const NOTHING: Usage = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }

/** What a summary takes of a fresh context. */
const SUMMARY_TOKENS = 2000

/** The tokens of a conversation, as if a model had been asked: each request reads the context again, from the cache once it is there. */
export class Meter {
  used: number
  isWarm: boolean
  #turn: Usage = NOTHING
  #all: Usage

  constructor(used: number, isWarm = false, spent: Usage = NOTHING) {
    this.used = used
    this.isWarm = isWarm
    this.#all = spent
  }

  /** A request to the model that makes the context so much longer; a tenth of it is the answer. */
  request(added: number): void {
    const output = Math.ceil(added / 10)
    const spent = {
      input: 0,
      cacheWritten: added - output + (this.isWarm ? 0 : this.used),
      cacheRead: this.isWarm ? this.used : 0,
      output,
    }
    this.#turn = plus(this.#turn, spent)
    this.#all = plus(this.#all, spent)
    this.used += added
    this.isWarm = true
  }

  compact(start: number): void {
    this.request(0)
    this.used = start + SUMMARY_TOKENS
    this.isWarm = false
  }

  get spent(): Usage {
    return this.#all
  }

  /** What the turn used. A turn takes one request at least. */
  endTurn(): Usage {
    if (this.#turn === NOTHING) this.request(0)
    const turn = this.#turn
    this.#turn = NOTHING
    return turn
  }
}

function plus(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cacheWritten: a.cacheWritten + b.cacheWritten,
    cacheRead: a.cacheRead + b.cacheRead,
    output: a.output + b.output,
  }
}
