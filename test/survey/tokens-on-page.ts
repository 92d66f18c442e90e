import { readFileSync } from 'node:fs'

/** The token numbers in the docs, which a test checks to within a quarter. */
export function tokensOnPage(): { readonly context: number; readonly condensed: number } {
  const page = readFileSync(new URL('../../docs/project-context.md', import.meta.url), 'utf8')
  const numbers = /(\d+) tokens, condensed from ([\d,]+)/.exec(page)!
  return { context: Number(numbers[1]), condensed: Number(numbers[2]!.replaceAll(',', '')) }
}
