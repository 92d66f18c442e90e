import { relative } from 'node:path'
import { publicHandoff, shortId } from '../../public/projection.ts'
import type {
  AcceptedHandoff,
  CreatedHandoff,
  RecordedHandoff,
  ShownHandoff,
  WaitingHandoff,
} from '../../library.ts'
import type { Project } from '../../core.ts'
import { isAccepted } from '../../core.ts'
import { formatToMinute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { joinLines } from './terminal/text.ts'

export function handoffJson(
  handoff: RecordedHandoff,
  session: { readonly id: string; readonly name: string },
) {
  const { position, document } = handoff
  return { ...publicHandoff(handoff, session), log: position, document }
}

export function describeCreatedHandoff(
  { state, handoff, path, leftOut }: CreatedHandoff,
  cwd: string,
  output: Output,
): string {
  const { code, git, number, to } = handoff
  const codeText =
    code === undefined ? 'not kept with it' : `${code.commit.slice(0, 7)} under refs/stint/`
  return joinLines(
    `🤝 ${output.bold(`Handoff ${number}: ${state.name}`)}${handoff.isDraft ? ' (draft)' : ''}`,
    `   File: ${relative(cwd, path)}`,
    `   Id: ${shortId(handoff.id)}`,
    to && `   For: ${to.kind} ${to.name}`,
    git?.commit !== undefined &&
      `   At: ${git.branch ?? 'no branch'} ${git.commit.slice(0, 7)}, ${git.dirty ?? 'unknown'} uncommitted`,
    git && `   Code: ${codeText}`,
    `   Size: ${handoff.tokens} tokens, estimated`,
    leftOut.length > 0 && `   Left out: ${leftOut.join(', ')}`,
    '',
    `   Next conversation: stint handoff accept ${state.name}/${number}`,
  )
}

export function handoffLine(handoff: RecordedHandoff): string {
  const { number, id, at, git, isDraft, to, text, accepted } = handoff
  const outcomeText = isAccepted({ accepted })
    ? 'taken up'
    : (accepted.at(-1)?.outcome ?? 'waiting')
  const notes = [
    isDraft ? 'draft' : '',
    to === undefined ? '' : `for ${to.name}`,
    text.split('\n').join(' '),
  ]
  const noteText = notes.filter((fact) => fact !== '').join('; ')
  return `${String(number).padStart(3)}  ${shortId(id)}  ${formatToMinute(at)}  ${git?.commit?.slice(0, 7) ?? 'no git'}  ${outcomeText.padEnd(8)}  ${noteText}`.trimEnd()
}

export function describeHandoff({ handoff, moved }: ShownHandoff): string {
  if (moved === undefined) return handoff.document
  return moved.length === 0
    ? 'Everything that can be compared is as it was.'
    : joinLines(moved.map((line) => `- ${line}`))
}

export function describeAcceptedHandoff(accepted: AcceptedHandoff, output: Output): string {
  const { outcome, moved, isTaken, text, number, session, bound, isForced } = accepted
  const title = `Handoff ${number} of ${session.name}: ${outcome}${isForced ? ', taken up all the same' : ''}`
  return joinLines(
    `🤝 ${output.bold(title)}`,
    moved.map((line) => `   - ${line}`),
    isTaken && bound !== undefined && `   Going on with: ${bound.name}`,
    '',
    isTaken
      ? text
      : `   It was not taken up. --force does so all the same; stint handoff create makes a new one.`,
  )
}

export function waitingHandoffLine({ name, number }: WaitingHandoff): string {
  return `↪ Handoff ${number} of ${name} waits: stint handoff accept ${name}/${number}`
}

export async function reportWaitingHandoffs(
  project: Project,
  task: string,
  output: Output,
): Promise<void> {
  for (const waiting of await project.handoffs.waiting({ tasks: [task] }))
    output.info(waitingHandoffLine(waiting))
}
