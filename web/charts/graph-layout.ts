// Lays out the tasks of a run from left to right in layers: a task is to the right of its dependencies, and few edges cross.

export interface GraphTask {
  readonly id: string
  /** Its dependencies. */
  readonly after: readonly string[]
}

export interface BoxSize {
  readonly width: number
  readonly height: number
}

interface PlacedTask {
  readonly id: string
  readonly x: number
  readonly y: number
}

interface PlacedEdge {
  readonly from: string
  readonly to: string
  readonly points: readonly Point[]
  /** It closes a cycle. */
  readonly isCircular: boolean
}

interface Point {
  readonly x: number
  readonly y: number
}

interface GraphLayout extends BoxSize {
  readonly tasks: readonly PlacedTask[]
  readonly edges: readonly PlacedEdge[]
}

const LAYER_GAP = 56
/** The height reserved for a line that passes a layer. */
const LINE_HEIGHT = 10
/** How many unconnected tasks are placed in one row. */
const LOOSE_COLUMNS = 4

interface Edge {
  readonly from: string
  readonly to: string
  readonly isCircular: boolean
}

export function layOutGraph(tasks: readonly GraphTask[], size: BoxSize): GraphLayout {
  const ids = new Set(tasks.map(({ id }) => id))
  const edges = findEdges(tasks, ids)
  const connectedIds = new Set(edges.flatMap(({ from, to }) => [from, to]))
  const connected = tasks.filter(({ id }) => connectedIds.has(id))
  const { layers, chains } = buildLayers(connected, edges)
  orderLayers(layers)
  const heightOf = (node: Node): number => (node.isTask ? size.height : LINE_HEIGHT)
  placeLayers(layers, heightOf)
  const columnX = (layer: number): number => layer * (size.width + LAYER_GAP)
  const placed: PlacedTask[] = layers
    .flat()
    .filter(({ isTask }) => isTask)
    .map(({ id, layer, middle }) => ({ id, x: columnX(layer), y: middle - size.height / 2 }))
  const drawn = edges.map((edge, index) => ({
    ...edge,
    points: pointsOf(chains[index] ?? [], edge.isCircular, columnX, size),
  }))
  const depth = Math.max(0, ...layers.flat().map((node) => node.middle + heightOf(node) / 2))
  const loose = tasks.filter(({ id }) => !connectedIds.has(id))
  const columns = Math.max(layers.length, Math.min(LOOSE_COLUMNS, loose.length))
  const top = depth === 0 ? 0 : depth + TASK_GAP * 2
  const looseTasks = loose.map(({ id }, index) => ({
    id,
    x: columnX(index % columns),
    y: top + Math.floor(index / columns) * (size.height + TASK_GAP),
  }))
  const all = [...placed, ...looseTasks]
  return {
    tasks: all,
    edges: drawn,
    width: Math.max(0, ...all.map(({ x }) => x + size.width)),
    height: Math.max(depth, ...all.map(({ y }) => y + size.height)),
  }
}

/** Every dependency once; edges that close a cycle are marked. */
function findEdges(tasks: readonly GraphTask[], ids: ReadonlySet<string>): readonly Edge[] {
  const waits = new Map(
    tasks.map(({ id, after }) => [
      id,
      [...new Set(after)].filter((other) => ids.has(other) && other !== id),
    ]),
  )
  const edges: Edge[] = []
  const visited = new Set<string>()
  const onPath = new Set<string>()
  for (const { id: start } of tasks) {
    // Not recursive, because a chain of thousands is deeper than the stack.
    const path: { readonly id: string; readonly left: string[] }[] = []
    const visit = (id: string): void => {
      visited.add(id)
      onPath.add(id)
      path.push({ id, left: [...(waits.get(id) ?? [])] })
    }
    if (!visited.has(start)) visit(start)
    for (let here = path.at(-1); here !== undefined; here = path.at(-1)) {
      const other = here.left.shift()
      if (other === undefined) {
        onPath.delete(here.id)
        path.pop()
        continue
      }
      edges.push({ from: other, to: here.id, isCircular: onPath.has(other) })
      if (!visited.has(other)) visit(other)
    }
  }
  return edges
}

/** The longest path to a task is its layer. An edge that passes layers gets a node in each, which reserves room for it. */
function buildLayers(
  tasks: readonly GraphTask[],
  edges: readonly Edge[],
): { readonly layers: Node[][]; readonly chains: readonly (readonly Node[])[] } {
  const nodes = new Map<string, Node>(
    tasks.map(({ id }) => [id, { id, isTask: true, layer: 0, before: [], behind: [], middle: 0 }]),
  )
  const forward = edges.map(({ from, to, isCircular }) =>
    isCircular ? { from: to, to: from } : { from, to },
  )
  const followers = new Map<string, string[]>()
  const open = new Map<string, number>()
  for (const { from, to } of forward) {
    followers.set(from, [...(followers.get(from) ?? []), to])
    open.set(to, (open.get(to) ?? 0) + 1)
  }
  const ready = tasks.map(({ id }) => id).filter((id) => !open.has(id))
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    const layer = (nodes.get(id)?.layer ?? 0) + 1
    for (const next of followers.get(id) ?? []) {
      const node = nodes.get(next)
      if (node !== undefined) node.layer = Math.max(node.layer, layer)
      const left = (open.get(next) ?? 1) - 1
      open.set(next, left)
      if (left === 0) ready.push(next)
    }
  }
  const layers: Node[][] = []
  const addToLayer = (node: Node): void => void (layers[node.layer] ??= []).push(node)
  for (const node of nodes.values()) addToLayer(node)
  const chains = forward.map(({ from, to }, index) => {
    const first = nodes.get(from)
    const last = nodes.get(to)
    if (first === undefined || last === undefined) return []
    const chain = [first]
    for (let layer = first.layer + 1; layer < last.layer; layer += 1) {
      const node: Node = {
        id: `${index}/${layer}`,
        isTask: false,
        layer,
        before: [],
        behind: [],
        middle: 0,
      }
      addToLayer(node)
      chain.push(node)
    }
    chain.push(last)
    for (let at = 1; at < chain.length; at += 1) {
      chain[at]?.before.push(chain[at - 1] as Node)
      chain[at - 1]?.behind.push(chain[at] as Node)
    }
    return chain
  })
  return { layers, chains }
}

function pointsOf(
  chain: readonly Node[],
  isCircular: boolean,
  columnX: (layer: number) => number,
  size: BoxSize,
): readonly Point[] {
  const points = chain.flatMap(({ isTask, layer, middle }, index) => {
    const x = columnX(layer)
    if (!isTask)
      return [
        { x, y: middle },
        { x: x + size.width, y: middle },
      ]
    return [{ x: index === 0 ? x + size.width : x, y: middle }]
  })
  return isCircular ? points.toReversed() : points
}

export function pathThrough(points: readonly Point[]): string {
  const text = (value: number): string => String(Math.round(value * 10) / 10)
  return points
    .map(({ x, y }, index) => {
      const before = points[index - 1]
      if (before === undefined) return `M${text(x)} ${text(y)}`
      if (before.y === y) return `L${text(x)} ${text(y)}`
      const bend = (before.x + x) / 2
      return `C${text(bend)} ${text(before.y)} ${text(bend)} ${text(y)} ${text(x)} ${text(y)}`
    })
    .join('')
}

/** A task, or the point where a long edge passes a layer. */
interface Node {
  readonly id: string
  readonly isTask: boolean
  layer: number
  before: Node[]
  behind: Node[]
  /** The vertical middle. */
  middle: number
}

const TASK_GAP = 14
const SWEEPS = 8

/** Places each node as near as possible to the middle of its neighbours, in layer order and without overlap. */
function placeLayers(layers: readonly (readonly Node[])[], heightOf: (node: Node) => number): void {
  for (const layer of layers) spread(layer, () => 0, heightOf)
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0
    for (const layer of isForward ? layers : layers.toReversed()) {
      spread(
        layer,
        (node) => {
          const connected = isForward ? node.before : node.behind
          return connected.length === 0
            ? node.middle
            : connected.reduce((sum, { middle }) => sum + middle, 0) / connected.length
        },
        heightOf,
      )
    }
  }
  const top = Math.min(...layers.flat().map((node) => node.middle - heightOf(node) / 2))
  for (const node of layers.flat()) node.middle -= top
}

/** Finds the positions nearest to the wanted ones that keep order and distance: neighbours that are too close move together. */
function spread(
  layer: readonly Node[],
  wanted: (node: Node) => number,
  heightOf: (node: Node) => number,
): void {
  const offsets: number[] = []
  for (const [index, node] of layer.entries()) {
    const above = layer[index - 1]
    const distance = above === undefined ? 0 : (heightOf(above) + heightOf(node)) / 2 + TASK_GAP
    offsets.push((offsets[index - 1] ?? 0) + distance)
  }
  const groups: { sum: number; count: number }[] = []
  for (const [index, node] of layer.entries()) {
    let group = { sum: wanted(node) - (offsets[index] ?? 0), count: 1 }
    for (
      let above = groups.at(-1);
      above !== undefined && above.sum / above.count > group.sum / group.count;
      above = groups.at(-1)
    ) {
      group = { sum: above.sum + group.sum, count: above.count + group.count }
      groups.pop()
    }
    groups.push(group)
  }
  let index = 0
  for (const { sum, count } of groups) {
    for (let left = count; left > 0; left -= 1, index += 1) {
      const node = layer[index]
      if (node !== undefined) node.middle = sum / count + (offsets[index] ?? 0)
    }
  }
}

/** Sorts each layer by its neighbours, sweeping back and forth, and keeps the best order found. */
function orderLayers(layers: Node[][]): void {
  let best = layers.map((layer) => [...layer])
  let fewest = crossings(layers)
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    const isForward = sweep % 2 === 0
    const swept = isForward ? layers : layers.toReversed()
    for (const [index, layer] of swept.entries()) {
      const beside = swept[index - 1]
      if (beside === undefined) continue
      const rank = new Map(beside.map((node, at) => [node, at]))
      const own = new Map(layer.map((node, at) => [node, at]))
      const middle = (node: Node): number => {
        const connected = isForward ? node.before : node.behind
        if (connected.length === 0) return own.get(node) ?? 0
        return connected.reduce((sum, other) => sum + (rank.get(other) ?? 0), 0) / connected.length
      }
      const wanted = new Map(layer.map((node) => [node, middle(node)]))
      layer.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0))
    }
    const now = crossings(layers)
    if (now >= fewest) continue
    fewest = now
    best = layers.map((layer) => [...layer])
  }
  for (const [index, layer] of best.entries()) layers[index] = layer
}

function crossings(layers: readonly (readonly Node[])[]): number {
  let sum = 0
  for (const [index, layer] of layers.entries()) {
    const rank = new Map((layers[index + 1] ?? []).map((node, at) => [node, at]))
    const ends = layer.flatMap((node) =>
      node.behind.map((next) => rank.get(next) ?? 0).toSorted((a, b) => a - b),
    )
    sum += inversions(ends)
  }
  return sum
}

/** Counts pairs in the wrong order by merge sort: a layer may have thousands of edges. */
function inversions(list: readonly number[]): number {
  if (list.length < 2) return 0
  const half = list.length >> 1
  const left = list.slice(0, half)
  const right = list.slice(half)
  let sum = inversions(left) + inversions(right)
  left.sort((a, b) => a - b)
  right.sort((a, b) => a - b)
  let at = 0
  for (const value of right) {
    while (at < left.length && (left[at] ?? 0) <= value) at += 1
    sum += left.length - at
  }
  return sum
}
