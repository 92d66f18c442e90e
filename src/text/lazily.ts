/** Most texts need none of the patterns, and compiling all would take a hook longer than its work. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
