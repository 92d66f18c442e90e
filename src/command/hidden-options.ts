/**
 * Whether a word, as it was written, may be an option that it does not look like once a shell has put in what it stands for:
 * `{--exec=x,y}`, `$nothing--exec=x`, `--ex$nothing`.
 */
export function mayHideOption(written: string): boolean {
  const word = written.replace(QUOTED, (_, escaped?: string, single?: string, double?: string) =>
    double === undefined
      ? (escaped ?? single ?? '').replace(/[$*?[{},]/g, 'q')
      : double.replace(/\\[^]|[*?[{},]/g, 'q'),
  )
  if (word.startsWith('-')) return /^-[^\s=]*[$*?[{]/.test(word)
  if (word.startsWith('{')) return /,|\.\./.test(word)
  return (
    word.startsWith('$') && !/^\$(?:\w+(?:$|[/.:])|(?:\{[^}]*\}|[?#@*!$])(?:$|[\w/.:]))/.test(word)
  )
}

/** Whether a shell takes a word as it was written, but for its quotes. */
export function isLiteral(written: string): boolean {
  const word = written.replace(QUOTED, (_, _escaped?: string, _single?: string, double?: string) =>
    double === undefined ? 'q' : double.replace(/\\[^]|[*?[{~]/g, 'q'),
  )
  return !/[$*?[{`]|^~/.test(word)
}

const QUOTED = /\\([^])|'([^']*)'|"((?:\\[^]|[^"\\])*)"/g
