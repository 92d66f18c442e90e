// Three lists: as the file was rendered, as the file is, as the task is now. What the person did is
// the difference of the first two, and is done to the third.
import type { ChecklistItem } from '../session/entries.ts'

export function mergeLists(
  base: readonly string[],
  file: readonly string[],
  current: readonly string[],
): readonly string[] {
  if (sameMembers(base, file)) return current
  const removed = new Set(base.filter((item) => !file.includes(item)))
  const added = file.filter((item) => !base.includes(item))
  return [...new Set([...current.filter((item) => !removed.has(item)), ...added])]
}

export function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index])
}

/**
 * The boxes that were ticked or cleared, when that is all that happened; else undefined. Boxes of
 * one wording cannot be told apart by it, so with those the whole list has to be said.
 */
export function tickedItems(
  base: readonly ChecklistItem[],
  file: readonly ChecklistItem[],
  current: readonly ChecklistItem[],
): readonly ChecklistItem[] | undefined {
  const wordings = (items: readonly ChecklistItem[]) => items.map(({ item }) => item)
  if (!sameList(wordings(base), wordings(file))) return undefined
  const changed = file.filter(({ done }, index) => done !== base[index]?.done)
  if (changed.length > 0 && new Set(wordings(file)).size < file.length) return undefined
  return changed.filter(({ item, done }) =>
    current.some((one) => one.item === item && one.done !== done),
  )
}

export function mergeChecklists(
  base: readonly ChecklistItem[],
  file: readonly ChecklistItem[],
  current: readonly ChecklistItem[],
): readonly ChecklistItem[] {
  if (JSON.stringify(base) === JSON.stringify(current)) return file
  const before = keyed(base)
  const written = keyed(file)
  const merged = [...keyed(current)].filter(([key]) => !before.has(key) || written.has(key))
  let place = 0
  for (const [key, item] of written) {
    const at = merged.findIndex(([other]) => other === key)
    if (at !== -1) {
      const was = before.get(key)
      // An item that both have added is done when either says so.
      if (was === undefined ? item.done : item.done !== was.done) merged[at] = [key, item]
      place = at + 1
    } else if (!before.has(key)) {
      // Behind the item it stands behind in the file.
      merged.splice(place, 0, [key, item])
      place += 1
    }
  }
  return merged.map(([, item]) => item)
}

/** Items by wording and, among equal ones, by which of them it is. */
function keyed(items: readonly ChecklistItem[]): ReadonlyMap<string, ChecklistItem> {
  const seen = new Map<string, number>()
  return new Map(
    items.map((item) => {
      const nth = (seen.get(item.item) ?? 0) + 1
      seen.set(item.item, nth)
      return [`${nth} ${item.item}`, item]
    }),
  )
}

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item))
}
