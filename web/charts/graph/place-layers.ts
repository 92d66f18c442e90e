import type { Node } from './node.ts'

export const BETWEEN_TASKS = 14
const SWEEPS = 8

/** Each node as near as can be to the middle of what it is tied to, in the order of its layer and without overlapping. */
export function placeLayers(
  layers: readonly (readonly Node[])[],
  heightOf: (node: Node) => number,
): void {
  for (const layer of layers) spread(layer, () => 0, heightOf)
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0
    for (const layer of isForward ? layers : layers.toReversed()) {
      spread(
        layer,
        (node) => {
          const tied = isForward ? node.before : node.behind
          return tied.length === 0
            ? node.middle
            : tied.reduce((sum, { middle }) => sum + middle, 0) / tied.length
        },
        heightOf,
      )
    }
  }
  const top = Math.min(...layers.flat().map((node) => node.middle - heightOf(node) / 2))
  for (const node of layers.flat()) node.middle -= top
}

/** The places nearest to those wanted that keep order and distance: neighbours that come too close move together. */
function spread(
  layer: readonly Node[],
  wanted: (node: Node) => number,
  heightOf: (node: Node) => number,
): void {
  const offsets: number[] = []
  for (const [index, node] of layer.entries()) {
    const above = layer[index - 1]
    const distance =
      above === undefined ? 0 : (heightOf(above) + heightOf(node)) / 2 + BETWEEN_TASKS
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
