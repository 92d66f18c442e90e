/**
 * Puts sections in the order people gave them. Each names the heading it was written under; of two
 * under the same one, the later was squeezed in between, so it comes first. Merging two machines'
 * edits gives the same order on both.
 */
export function chain<T extends { readonly id: string; readonly after: string }>(sections: readonly T[]): readonly T[] {
  const ids = new Set(sections.map((section) => section.id))
  const ordered: T[] = []
  const place = (anchor: string) => {
    for (const section of sections.filter((candidate) => candidate.after === anchor).toReversed()) {
      ordered.push(section)
      place(section.id)
    }
  }
  const roots = new Set(sections.map((section) => section.after).filter((after) => !ids.has(after)))
  for (const root of roots) place(root)
  return ordered
}

/** The known heading a section stands under, through however many other sections. */
export function rootOf(section: { readonly after: string }, byId: ReadonlyMap<string, { readonly after: string }>): string {
  let current = section
  for (let depth = 0; depth <= byId.size; depth += 1) {
    const above = byId.get(current.after)
    if (above === undefined) return current.after
    current = above
  }
  return current.after
}
