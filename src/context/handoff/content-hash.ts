const HASH_LINE = /^hash: .*$/m

/** `sha256:…` over everything but the line that says so. Line ends that a transport changed do not count. */
export function contentHash(text: string): string {
  // Loaded when it is needed: hooks load this module with others, and hardly ever hash.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return `sha256:${createHash('sha256').update(canonical(text)).digest('hex')}`
}

/** The bytes that are hashed. */
function canonical(text: string): string {
  const lines = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const { start, end } = headOf(lines)
  const head = lines.slice(start, end).replace(HASH_LINE, '').replaceAll(/\n+/g, '\n')
  return `${head}${lines.slice(end)}`.trimEnd()
}

/** Where the frontmatter begins and ends, so that a line of the text that looks like ours is text. */
function headOf(text: string): { start: number; end: number } {
  const end = text.startsWith('---\n') ? text.indexOf('\n---\n', 3) : -1
  return { start: 0, end: end === -1 ? 0 : end }
}
