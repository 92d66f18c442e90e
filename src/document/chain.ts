/**
 * Puts sections in the order people gave them. Each names the heading it was written under; of two
 * under the same one, the later was squeezed in between, so it comes first. Merging two machines'
 * edits gives the same order on both.
 */
export function chain<T extends { readonly id: string; readonly after: string }>(
  sections: readonly T[],
): readonly T[] {
  const ids = new Set(sections.map((section) => section.id))
  const under = new Map<string, T[]>()
  for (const section of sections) {
    const siblings = under.get(section.after)
    if (siblings === undefined) under.set(section.after, [section])
    else siblings.push(section)
  }
  // By hand rather than by recursion: a pasted page of thousands of headings is a chain as deep.
  const ordered: T[] = []
  for (const root of [...under.keys()].filter((after) => !ids.has(after))) {
    const waiting = [...under.get(root)!]
    for (let section = waiting.pop(); section !== undefined; section = waiting.pop()) {
      ordered.push(section)
      waiting.push(...(under.get(section.id) ?? []))
    }
  }
  return ordered
}

/** For each section in the order of `chain`, the known heading it stands under, through however many other sections. */
export function roots<T extends { readonly id?: string; readonly after: string }>(
  chained: readonly T[],
): ReadonlyMap<T, string> {
  const byId = new Map<string, string>()
  return new Map(
    chained.map((section) => {
      const root = byId.get(section.after) ?? section.after
      if (section.id !== undefined) byId.set(section.id, root)
      return [section, root]
    }),
  )
}
