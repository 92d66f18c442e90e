import { readFileSync } from 'node:fs'

/** The token numbers in the docs, which a test checks to within a quarter. */
export function saidOnPage(): { readonly context: number; readonly condensed: number } {
  const page = readFileSync(new URL('../../docs/project-context.md', import.meta.url), 'utf8')
  const said = /(\d+) tokens, condensed from ([\d,]+)/.exec(page)!
  return { context: Number(said[1]), condensed: Number(said[2]!.replaceAll(',', '')) }
}
