import { oneLine } from '../../text/clean.ts'

export interface PlanItem {
  readonly text: string
  readonly isDone: boolean
}

const MOST = 20

/**
 * The steps of a plan written in Markdown: its boxes, or else what it numbers, or else its bullets, or else its
 * headings. One kind only, and of that the outermost level, so that explanations are not taken for steps.
 */
export function planItems(markdown: string): readonly PlanItem[] {
  const lines = withoutFences(markdown.split('\n').map((line) => line.slice(0, 500)))
  for (const { pattern, atLeast } of KINDS) {
    const found = outermost(
      lines.map((line) => pattern.exec(line)?.groups).filter((groups) => groups !== undefined),
    )
    if (found.length >= atLeast) return found.slice(0, MOST)
  }
  return []
}

const KINDS: readonly { readonly pattern: RegExp; readonly atLeast: number }[] = [
  {
    pattern: /^(?<indent>\s*)(?:[-*+]|\d{1,3}[.)])\s+\[(?<box>[ xX])\]\s+(?<text>\S.*)$/,
    atLeast: 1,
  },
  {
    pattern:
      /^(?<indent>)#{1,6}\s+(?:(?:step|phase|task|part|stage)\s+)?\d{1,3}[.):]\s*(?<text>\S.*?)#*$/i,
    atLeast: 2,
  },
  { pattern: /^(?<indent>\s*)\d{1,3}[.)]\s+(?<text>\S.*)$/, atLeast: 2 },
  { pattern: /^(?<indent>\s*)[-*+]\s+(?<text>\S.*)$/, atLeast: 1 },
  { pattern: /^(?<indent>\s*)\d{1,3}[.)]\s+(?<text>\S.*)$/, atLeast: 1 },
  { pattern: /^(?<indent>)#{2,6}\s+(?<text>\S.*?)#*$/, atLeast: 1 },
  { pattern: /^(?<indent>)#\s+(?<text>\S.*?)#*$/, atLeast: 1 },
]

type Found = Readonly<Record<string, string | undefined>>

function outermost(found: readonly Found[]): readonly PlanItem[] {
  const depths = found.map(({ indent = '' }) => indent.replaceAll('\t', '    ').length)
  const outer = Math.min(...depths)
  return found
    .filter((_, index) => depths[index] === outer)
    .map(({ text = '', box = ' ' }) => ({ text: plain(text), isDone: box !== ' ' }))
    .filter(({ text }) => text !== '')
}

/** The words without what makes them bold, or announces what follows. */
function plain(text: string): string {
  return oneLine(text.replace(/\*\*|__/g, '')).replace(/\s*:$/, '')
}

function withoutFences(lines: readonly string[]): readonly string[] {
  let fence: string | undefined
  return lines.filter((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) {
      fence = mark
      return mark === undefined
    }
    if (mark !== undefined && mark.startsWith(fence)) fence = undefined
    return false
  })
}
