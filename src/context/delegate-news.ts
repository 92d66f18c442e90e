import { delegateName } from '../document/progress-file.ts'
import type { SessionDelegate } from '../session/state.ts'
import { TOKEN_MARGIN } from '../text/tokens.ts'
import { costOfAll } from './text-size.ts'
import { fenceLines, fenced } from './fence.ts'
import { bullets, fitSection, sectionFrame, leftOutLines, describeLeftOut } from './section.ts'

export const NEWS_TOKENS = 300
const LEFT_OUT_ROOM = 24

/** One line each, the latest last. */
export function delegateNews(
  session: string,
  lines: readonly SessionDelegate[],
): { readonly text: string; readonly mark: string } {
  const section = bullets(
    lines.map(newsLine),
    sectionFrame('News of delegates:', 'delegates', 'stint delegates', [0, 0, NEWS_TOKENS], {
      lengths: [90, 60, 45, 36],
    }),
  )
  const fitted = fitSection(
    section,
    NEWS_TOKENS - costOfAll(fenceLines({ name: session })) - TOKEN_MARGIN - LEFT_OUT_ROOM,
  )
  const leftOut =
    fitted.shown < section.count
      ? leftOutLines(describeLeftOut([{ ...fitted, isShortened: false }]), LEFT_OUT_ROOM)
      : []
  return fenced({ name: session }, [...fitted.lines, ...leftOut])
}

/** The commands come first because the rest may be cut. */
function newsLine(line: SessionDelegate) {
  const { because, report, status, summary } = line
  const name = delegateName(line)
  const show = `stint delegate show ${name}`
  const isGood = status === 'ready' || status === 'merged'
  const outcome = isGood ? (summary ?? because) : (because ?? summary)
  const isRetried = status === 'conflicted' || status === 'failed' || status === 'parked'
  const commands =
    status === 'ready' && report === undefined
      ? `stint merge ${name}, ${show}`
      : `${show}${isRetried ? `, stint delegate retry ${name}` : ''}`
  return `${name} is ${status} (${commands})${outcome === undefined ? '' : `: ${outcome}`}`
}
