import type { Compaction, HistoryItem, Message } from './items.ts'

/**
 * Leaves out abandoned branches, retracted and compacted messages, sub-agents, and messages only
 * for the user.
 */
export function liveMessages(items: Iterable<HistoryItem>): readonly Message[] {
  const nodes = withoutRetracted(items)
  const isLinked = nodes.some((node) => node.type === 'message' && node.parent !== undefined)
  const live = isLinked ? followParents(new Chain(nodes)) : afterLastCompaction(nodes)
  return live.filter(({ isFailure }) => isFailure !== true)
}

type ChainNode = Message | Compaction

/** For histories without parents. */
function afterLastCompaction(nodes: readonly ChainNode[]) {
  const at = nodes.findLastIndex(({ type }) => type === 'compaction')
  const after = nodes.slice(at + 1).filter(isMessage)
  return at === -1
    ? after
    : fromCompaction(nodes[at] as Compaction, nodes.slice(0, at).filter(isMessage), after)
}

function fromCompaction(
  { kept = [] }: Compaction,
  before: readonly Message[],
  after: readonly Message[],
) {
  const byId = new Map(before.map((message) => [message.id, message]))
  const keptMessages = kept.flatMap((id) => byId.get(id) ?? [])
  return [
    ...after.filter(isSummary),
    ...keptMessages,
    ...after.filter((message) => !isSummary(message)),
  ]
}

function followParents(chain: Chain) {
  const { path, compaction } = chain.walkBack()
  const live = chain.withParallel(path)
  return compaction === undefined
    ? live
    : fromCompaction(compaction, chain.before(compaction), chain.withSummary(live, compaction))
}

class Chain {
  readonly #indexes: ReadonlyMap<string, number>
  readonly #children = new Map<string, Message[]>()
  /** The last compaction that kept a message. */
  readonly #keptBy = new Map<string, number>()

  constructor(readonly nodes: readonly ChainNode[]) {
    this.#indexes = new Map(nodes.map(({ id }, index) => [id, index]))
    for (const [index, node] of nodes.entries()) {
      if (node.type === 'compaction') for (const id of node.kept ?? []) this.#keptBy.set(id, index)
      else if (node.parent !== undefined) this.#addChild(node.parent, node)
    }
  }

  #addChild(parent: string, child: Message) {
    const children = this.#children.get(parent)
    if (children === undefined) this.#children.set(parent, [child])
    else children.push(child)
  }

  /** From the last message back to the first, or to the compaction before it. */
  walkBack() {
    const path: Message[] = []
    for (let index = this.nodes.length - 1; index >= 0;) {
      const node = this.nodes[index]!
      if (node.type === 'compaction') return { path, compaction: node }
      const keptBy = this.#keptBy.get(node.id)
      // It survived a compaction, so the compaction precedes what follows it.
      if (keptBy !== undefined && path.length > 0 && keptBy < this.#indexOf(path.at(-1)!))
        return { path, compaction: this.nodes[keptBy] as Compaction }
      path.push(node)
      index = this.#previousIndex(node, index)
    }
    return { path }
  }

  #indexOf({ id }: ChainNode) {
    return this.#indexes.get(id)!
  }

  #previousIndex({ parent }: Message, index: number) {
    if (parent === undefined) return -1
    const found = this.#indexes.get(parent)
    // If its parent was not stored, it follows the message before it.
    return found === undefined || found >= index ? index - 1 : found
  }

  /**
   * Parallel tool uses branch: each result follows its own use, and the path back contains only one
   * of them.
   */
  withParallel(path: readonly Message[]) {
    const found = new Set(path)
    for (const message of found) {
      if (message.role !== 'assistant') continue
      for (const child of this.#children.get(message.id) ?? [])
        if (isOfSameRequest(child, message)) found.add(child)
    }
    return [...found].toSorted((a, b) => this.#indexOf(a) - this.#indexOf(b))
  }

  before(compaction: Compaction) {
    return this.nodes.slice(0, this.#indexOf(compaction)).filter(isMessage)
  }

  withSummary(live: readonly Message[], compaction: Compaction) {
    const summaries = (this.#children.get(compaction.id) ?? []).filter(
      (message) => isSummary(message) && !live.includes(message),
    )
    return [...summaries, ...live]
  }
}

function isOfSameRequest(child: Message, { request }: Message) {
  if (child.role === 'assistant') return request !== undefined && child.request === request
  return child.parts.some(({ type }) => type === 'tool result')
}

function isMessage(node: ChainNode): node is Message {
  return node.type === 'message'
}

function isSummary({ isSummary: is }: Message) {
  return is === true
}

function withoutRetracted(items: Iterable<HistoryItem>) {
  const tracker = new RetractionTracker()
  for (const item of items) tracker.add(item)
  return tracker.nodes.slice(0, tracker.end)
}

/** Holds what may still be restored. */
export class RetractionTracker {
  readonly nodes: (Message | Compaction)[] = []
  /** Where the retracted nodes begin. */
  end: number | undefined

  add(item: HistoryItem): void {
    if (item.type === 'taken back') {
      const at = item.from === undefined ? -1 : this.nodes.findIndex(({ id }) => id === item.from)
      this.end = at === -1 ? undefined : at
    } else if (
      item.type === 'compaction' ||
      (item.type === 'message' && item.agent === undefined)
    ) {
      // A new message makes the retraction final.
      if (this.end !== undefined) this.nodes.length = this.end
      this.end = undefined
      this.nodes.push(item)
    }
  }
}
