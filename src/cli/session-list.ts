import type { SessionRow } from '../index/rows.ts'
import { shortId } from '../journal/ids.ts'
import { shorten } from '../text/clean.ts'
import { minute } from '../text/times.ts'
import type { Output } from './output.ts'

/** Prints rows as they come, so that a hundred thousand need no more memory than ten. */
export function printList(
  rows: Iterable<SessionRow>,
  isJson: boolean | undefined,
  output: Output,
): void {
  let printed = 0
  if (isJson === true) output.line('[')
  for (const row of rows) {
    if (isJson === true) output.line(`${printed === 0 ? '' : ','}${JSON.stringify(row)}`)
    else {
      if (printed === 0)
        output.line(
          output.dim(columns('ID', 'NAME', 'STATUS', 'PROGRESS', 'UPDATED', 'BRANCH', 'OBJECTIVE')),
        )
      const steps = `${row.stepsDone}/${row.stepsTotal}`
      const goal = shorten(row.goal.split('\n').join(' '), 50)
      output.line(
        columns(
          shortId(row.id),
          row.name,
          row.status,
          steps,
          minute(row.updatedAt),
          row.branch ?? '',
          goal,
        ),
      )
    }
    printed += 1
  }
  if (isJson === true) output.line(']')
  else if (printed === 0) output.line('No sessions.')
}

function columns(
  ...[id = '', name = '', status = '', steps = '', updated = '', branch = '', goal = '']: string[]
): string {
  return `${id.padEnd(6)}  ${name.padEnd(24)}  ${status.padEnd(9)}  ${steps.padEnd(8)}  ${updated.padEnd(16)}  ${branch.padEnd(20)}  ${goal}`.trimEnd()
}
