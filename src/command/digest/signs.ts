/**
 * What stands in every line that a rule could begin with, or that sounds like trouble. Most lines of a long output have
 * none of it, and one look at each is what makes gigabytes of them bearable.
 */
const SIGNS = new RegExp(
  [
    'error|warn|fail|exception|panic|fatal|traceback|undefined|fault|abort|kill|illegal|memory|denied|refused|dumped',
    'cannot|could|unable|timed|timeout|invalid|missing|unexpected|not ok|not found|no such|no space|went wrong',
    String.raw`npm|rspec|dockerfile|test at |stdout ----|:\d+:\d+|:\d+: |\.go:|:\d+$|[●✖×✗✘✕⚠━─]`,
    String.raw`^\s*\d+[):]|^_{3}|^[a-z]{1,4}\d{2}|^[ew]: |^\s+[x!] `,
  ].join('|'),
  'i',
)

/** Whether a line is worth being understood. */
export function mayMatter(line: string): boolean {
  return SIGNS.test(line)
}
