/**
 * What is made when it is first asked for. Most texts need none of the patterns that there are, and to make them all would
 * take a hook longer than its work.
 */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
