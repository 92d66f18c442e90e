import type { PlannedRunSession, RunPlan } from '../run/run-plan.ts'
import { cents, roughly, tokens } from './amounts.ts'
import { plural } from './describe.ts'
import type { Output } from './output.ts'
import { line, name } from './run-view/words.ts'
import { table } from './table.ts'

/** What a run would do and why: sessions as blocks, what waits, and what it would come to. */
export function describePlan(plan: RunPlan, output: Output): string {
  const { source, harness, model, sessions, waiting, notes, complexity, domain, tracking } = plan
  const count = sessions.reduce((sum, { tasks }) => sum + tasks.length, 0)
  const who = [harness, model].filter((part) => part !== undefined).map((part) => line(part, 60))
  const seconds = sessions.reduce((sum, session) => sum + session.seconds, 0)
  return [
    `📐 ${output.bold(count === 0 ? 'Nothing to do' : `${plural(count, 'task')} in ${plural(sessions.length, 'session')}`)}`,
    `   From ${line(source)}, with ${who.join(', ')}`,
    ...(count === 0
      ? []
      : [
          `   ${complexity} work (${domain}): ${tracking === 'light' ? 'little' : 'each turn and the code of each task'} is recorded besides`,
        ]),
    ...sessions.flatMap((session, index) => ['', ...sessionBlock(session, index, output)]),
    ...(count === 0 ? [] : ['', `   ${output.bold('In all')}  about ${roughly(seconds)}, ${costOf(sessions)}`]),
    ...(waiting.length === 0 ? [] : ['', `   ${output.bold('Waits')}`]),
    ...waiting.map(({ task, reason }) => `   ⊘ ${name(task)}: ${line(reason)}`),
    ...(notes.length === 0 ? [] : ['']),
    ...notes.map((note) => `   ${line(note)}`),
  ].join('\n')
}

function sessionBlock(
  { tasks, because, context, usd, seconds }: PlannedRunSession,
  index: number,
  output: Output,
): readonly string[] {
  const rows = tasks.map(({ task, sizeClass, forecast: { added }, profile }) => [
    `   ○ ${line(task.name, 32)}`,
    sizeClass,
    `+${tokens(added.middle)}`,
    `at most ${tokens(added.margin)}`,
    profile === undefined ? '' : `as ${line(profile.name, 20)}`,
    line(task.title, 60),
  ])
  const end = `ends at ${tokens(context.middle)} tokens, at most ${tokens(context.margin)}`
  return [
    `   ${output.bold(`Session ${index + 1}`)}  about ${roughly(seconds)}, ${usd === undefined ? 'cost unknown' : `about ${cents(usd)}`}, ${end}`,
    `   ${output.dim(line(because))}`,
    ...table(rows, new Set([2])),
  ]
}

/** A part of the cost would look like the whole. */
function costOf(sessions: readonly PlannedRunSession[]): string {
  const sum = sessions.reduce<number | undefined>(
    (so, { usd }) => (so === undefined || usd === undefined ? undefined : so + usd),
    0,
  )
  return sum === undefined ? 'cost unknown' : `about ${cents(sum)}`
}
