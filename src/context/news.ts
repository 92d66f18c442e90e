// What became of delegates, for the model of the conversation that they work for.
import type { DelegateLine } from '../session/state.ts'
import { delegateName } from '../document/progress.ts'
import { costOfAll } from './cost.ts'
import { fenceLines, fenced } from './fence.ts'
import { leftOutLines, leftOutOf } from './left-out.ts'
import { bullets } from './lists.ts'
import { fit } from './section.ts'
import { MARGIN } from '../text/tokens.ts'

/** The most tokens that it takes, fence and all. */
export const NEWS_TOKENS = 300
const LEFT_OUT_ROOM = 24

/** One line each, the latest last, with the commands that go on from there. */
export function newsOfDelegates(
  session: string,
  lines: readonly DelegateLine[],
): { readonly text: string; readonly mark: string } {
  const section = bullets(lines.map(newsLine), {
    things: 'delegates',
    command: 'stint delegates',
    rank: 0,
    reserve: 0,
    fair: NEWS_TOKENS,
    heading: 'News of delegates:',
    keep: 'last',
    lengths: [90, 60, 45, 36],
  })
  const fitted = fit(section, NEWS_TOKENS - costOfAll(fenceLines(session)) - MARGIN - LEFT_OUT_ROOM)
  const leftOut =
    fitted.shown < section.count
      ? leftOutLines(leftOutOf([{ ...fitted, isShortened: false }]), LEFT_OUT_ROOM)
      : []
  return fenced(session, [...fitted.lines, ...leftOut])
}

/** The commands stand before what may be long enough to be cut. */
function newsLine(line: DelegateLine): string {
  const { because, status, summary } = line
  const outcome =
    status === 'ready' || status === 'merged' ? (summary ?? because) : (because ?? summary)
  return `${delegateName(line)} is ${status} (${commandsFor(line)})${outcome === undefined ? '' : `: ${outcome}`}`
}

function commandsFor(line: DelegateLine): string {
  const name = delegateName(line)
  const show = `stint delegate show ${name}`
  if (line.status === 'ready' && line.report === undefined) return `stint merge ${name}, ${show}`
  return line.status === 'conflicted' || line.status === 'failed' || line.status === 'parked'
    ? `${show}, stint delegate retry ${name}`
    : show
}
