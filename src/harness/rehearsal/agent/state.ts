import { NO_USAGE, addUsage } from '../../contract/usage.ts'
import { join } from 'node:path'
import { createFolderUnsynced, replaceUnsynced } from '../../../journal/files.ts'
import { readOrUndefined } from '../../../journal/look.ts'
import type { Usage } from '../../../session/entries.ts'
import { countOf, objectOf, parseJson } from '../../../text/json-fields.ts'

export interface RememberedConversation {
  readonly used: number
  readonly isWarm: boolean
  readonly spent: Usage
  readonly said: readonly { readonly by: 'user' | 'agent'; readonly text: string }[]
}

export class RehearsalState {
  readonly #folder: string | undefined
  readonly #memory = new Map<string, string>()

  constructor(folder: string | undefined) {
    this.#folder = folder === '' ? undefined : folder
  }

  nextTurn(run: string, task: string): number {
    const key = JSON.stringify([run, task])
    const turns = objectOf(parseJson(this.#read('turns.json') ?? '{}')) ?? {}
    const turn = (countOf(turns[key]) ?? 0) + 1
    this.#write('turns.json', JSON.stringify({ ...turns, [key]: turn }))
    return turn
  }

  conversation(id: string): RememberedConversation | undefined {
    const text = /^[\w-]+$/.test(id) ? this.#read(`${id}.json`) : undefined
    return text === undefined ? undefined : (parseJson(text) as RememberedConversation | undefined)
  }

  keep(id: string, conversation: RememberedConversation): void {
    this.#write(`${id}.json`, JSON.stringify(conversation))
  }

  #read(name: string): string | undefined {
    return this.#folder === undefined
      ? this.#memory.get(name)
      : readOrUndefined(join(this.#folder, name))?.toString('utf8')
  }

  #write(name: string, text: string): void {
    if (this.#folder === undefined) return void this.#memory.set(name, text)
    createFolderUnsynced(this.#folder)
    replaceUnsynced(join(this.#folder, name), text)
  }
}

const SUMMARY_TOKENS = 2000

export class Meter {
  used: number
  isWarm: boolean
  #turn: Usage = NO_USAGE
  #all: Usage

  constructor(used: number, isWarm = false, spent: Usage = NO_USAGE) {
    this.used = used
    this.isWarm = isWarm
    this.#all = spent
  }

  request(added: number): void {
    const output = Math.ceil(added / 10)
    const spent = {
      input: 0,
      cacheWritten: added - output + (this.isWarm ? 0 : this.used),
      cacheRead: this.isWarm ? this.used : 0,
      output,
    }
    this.#turn = addUsage(this.#turn, spent)
    this.#all = addUsage(this.#all, spent)
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

  endTurn(): Usage {
    if (this.#turn === NO_USAGE) this.request(0)
    const turn = this.#turn
    this.#turn = NO_USAGE
    return turn
  }
}
