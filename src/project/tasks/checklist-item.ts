import { StintError } from '../../journal/errors.ts'

/** The item of a checklist that is meant by its number, its text, or a part of it that only it has. */
export function findItem(items: readonly string[], wanted: string, task: string): string {
  const byNumber = /^\d+$/.test(wanted) ? items[Number(wanted) - 1] : undefined
  const exact = items.find((item) => item === wanted)
  const parts = items.filter((item) => item.toLowerCase().includes(wanted.toLowerCase()))
  const found = byNumber ?? exact ?? (parts.length === 1 ? parts[0] : undefined)
  if (found !== undefined) return found
  const list = items.map((item, index) => `  ${index + 1}. ${item}`)
  const problem =
    parts.length > 1 ? `"${wanted}" fits several items` : `${task} has no item "${wanted}"`
  throw new StintError(
    'NO_ITEM',
    [`${problem}:`, ...list].join('\n'),
    'name one of those above, or its number',
  )
}
