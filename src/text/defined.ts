/** Leaves out undefined fields. */
export function defined<T extends object>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const found: Record<string, unknown> = {}
  for (const name of Object.keys(fields)) {
    const value = (fields as Record<string, unknown>)[name]
    if (value !== undefined) found[name] = value
  }
  return found as never
}
