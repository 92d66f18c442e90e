import type { Node } from './node.ts'

const SWEEPS = 8

/** To and fro, each layer is brought into the order of what it is tied to; the best order that came up stays. */
export function orderLayers(layers: Node[][]): void {
  let best = layers.map((layer) => [...layer])
  let fewest = crossings(layers)
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    const isForward = sweep % 2 === 0
    const way = isForward ? layers : layers.toReversed()
    for (const [index, layer] of way.entries()) {
      const beside = way[index - 1]
      if (beside === undefined) continue
      const rank = new Map(beside.map((node, at) => [node, at]))
      const own = new Map(layer.map((node, at) => [node, at]))
      const middle = (node: Node): number => {
        const tied = isForward ? node.before : node.behind
        if (tied.length === 0) return own.get(node) ?? 0
        return tied.reduce((sum, other) => sum + (rank.get(other) ?? 0), 0) / tied.length
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

/** How many pairs stand the wrong way round, by merging: a layer may have thousands of lines. */
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
