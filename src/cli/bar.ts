const WIDTH = 24

/** A share as a bar of fixed width, and in percent. */
export function bar(share: number): string {
  const within = Math.min(1, Math.max(0, share))
  const done = Math.round(within * WIDTH)
  return `${'█'.repeat(done)}${'░'.repeat(WIDTH - done)} ${Math.floor(within * 100)} %`
}
