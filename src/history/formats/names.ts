/** A name of a tool or of a use of one, in the letters that providers take. Other harnesses have more of them. */
export function acceptableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}
