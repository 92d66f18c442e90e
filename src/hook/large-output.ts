/** From here on what a command printed is much of a context. In characters. */
export const LARGE_OUTPUT = 12_000
