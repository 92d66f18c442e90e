import type { TrustItem, TrustReview } from '../../library.ts'
import { shorten } from '../../text/clean.ts'
import { printableJson, printableLine } from '../../text/printable.ts'
import type { Output } from './context.ts'

/** Shows what would be agreed to, and asks. */
export async function askToTrust(review: TrustReview, output: Output): Promise<boolean> {
  const { askYes } = await import('./ask.ts')
  output.info(describeTrust(review, output))
  return askYes('Do you agree to all of this on this machine?')
}

const GROUPS: readonly (readonly [TrustItem['kind'], string])[] = [
  ['setting', 'Settings in .sessions/config.yaml'],
  ['verify', 'Verify commands of tasks'],
  ['profile', 'Profiles, whose text becomes instructions'],
  ['template', 'Workflow templates'],
  ['task', 'Tasks whose text was not written on this machine'],
  ['journals', 'Journals that were not written on this machine'],
]

export function describeTrust({ root, items, isAgreed }: TrustReview, output: Output): string {
  if (items.length === 0) return `Nothing here needs your agreement: ${root}`
  const open = items.filter(({ status }) => status !== 'agreed').length
  return [
    output.bold(
      isAgreed
        ? `You agreed to everything here: ${root}`
        : `Waiting for your agreement in ${root}: ${open}`,
    ),
    ...GROUPS.flatMap(([kind, title]) => {
      const group = items.filter((item) => item.kind === kind)
      return group.length === 0
        ? []
        : ['', `${title}:`, ...group.flatMap((item) => itemLines(item, output))]
    }),
    ...(isAgreed
      ? []
      : ['', 'stint trust asks on a terminal; stint trust --yes agrees in a script.']),
  ].join('\n')
}

const MAX_LINES = 10
const MAX_LINE_LENGTH = 160

/** A text has its first lines below, cleaned, and the command that shows all of it. */
function itemLines(item: TrustItem, output: Output): readonly string[] {
  const line = itemLine(item, output)
  if ((item.kind !== 'profile' && item.kind !== 'template') || item.status === 'agreed')
    return [line]
  const lines = String(item.value).trimEnd().split('\n')
  const shown = lines
    .slice(0, MAX_LINES)
    .map((text) => `      | ${shorten(printableLine(text), MAX_LINE_LENGTH)}`)
  const isAll = lines.length <= MAX_LINES && lines.every((text) => text.length <= MAX_LINE_LENGTH)
  return [line, ...shown, ...(isAll ? [] : ['      stint trust --json shows all of it'])]
}

function itemLine({ kind, name, value, status }: TrustItem, output: Output): string {
  const shown =
    kind === 'profile' || kind === 'template'
      ? `${String(value).split('\n').length} lines`
      : value === undefined
        ? ''
        : printableJson(kind === 'task' ? (value as { title?: unknown }).title : value)
  const mark = status === 'agreed' ? output.dim(status.padEnd(8)) : status.padEnd(8)
  // What is agreed to is shown escaped, never with a part of it cleaned away.
  const label = printableLine(name) === name ? name : printableJson(name)
  return `  ${mark} ${label}${shown === '' ? '' : `: ${shown}`}`
}
