/** What stands within a paragraph. */
export type Span =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'struck'; readonly spans: readonly Span[] }
  | { readonly type: 'link'; readonly to: string; readonly spans: readonly Span[] }

const DEEPEST = 6
// Beyond this a paragraph is no prose. Within it pairs are looked for a few hundred characters far, so that it takes no time worth noticing.
const LONGEST = 20_000

const SPAN =
  /(?<code>`+)(?<inCode>[^`]|[^`][\s\S]{0,600}?[^`])\k<code>(?!`)|(?<strong>\*\*|__)(?=\S)(?<inStrong>[^\n]{0,600}?\S)\k<strong>(?!\w)|(?<struck>~~)(?=\S)(?<inStruck>[^\n]{0,600}?\S)~~|(?<!\w)(?<emphasis>[*_])(?=[^\s*_])(?<inEmphasis>[^\n*_]{0,600}?[^\s*_])\k<emphasis>(?!\w)|\[(?<label>[^\]\n]{1,500})\]\((?<target>[^\s()]{1,2000})\)|(?<bare>https?:\/\/[^\s<>"'`)\]]{1,2000})|\\(?<escaped>[!-/:-@[-`{-~])/

export function readSpans(text: string, depth = 0): readonly Span[] {
  if (text.length > LONGEST || depth > DEEPEST) return [{ type: 'text', text }]
  const spans: Span[] = []
  let rest = text
  for (let found = SPAN.exec(rest); found !== null; found = SPAN.exec(rest)) {
    if (found.index > 0) spans.push({ type: 'text', text: rest.slice(0, found.index) })
    spans.push(spanOf(found[0], found.groups!, depth))
    rest = rest.slice(found.index + found[0].length)
  }
  if (rest !== '') spans.push({ type: 'text', text: rest })
  return spans
}

function spanOf(
  whole: string,
  groups: Readonly<Record<string, string | undefined>>,
  depth: number,
): Span {
  const { inCode, inStrong, inStruck, inEmphasis, label, target, bare, escaped } = groups
  if (inCode !== undefined) return { type: 'code', text: inCode }
  if (inStrong !== undefined) return { type: 'strong', spans: readSpans(inStrong, depth + 1) }
  if (inStruck !== undefined) return { type: 'struck', spans: readSpans(inStruck, depth + 1) }
  if (inEmphasis !== undefined) return { type: 'emphasis', spans: readSpans(inEmphasis, depth + 1) }
  if (escaped !== undefined) return { type: 'text', text: escaped }
  const to = bare ?? target!
  // Only what leads to another site is a link. Anything else would be an address within this page, or a script.
  if (!isOutside(to)) return { type: 'text', text: whole }
  return {
    type: 'link',
    to,
    spans: bare === undefined ? readSpans(label!, DEEPEST) : [{ type: 'text', text: bare }],
  }
}

function isOutside(address: string): boolean {
  if (!/^https?:\/\//i.test(address)) return false
  return URL.canParse(address)
}
