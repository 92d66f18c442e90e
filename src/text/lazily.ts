/** Most texts need none of the patterns, and compiling all of them would take longer than a hook's work. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
