import type { PlannedParallel, PlannedRunSession } from '../../../core.ts'
import type { RunPlan } from '../../../library.ts'
import { line, plural } from '../terminal/text.ts'
import { cents, roughly, tokens } from '../terminal/amounts.ts'
import type { Output } from '../../context/output.ts'
import { name } from './words.ts'
import { table } from '../terminal/table.ts'

/** What a run would do and why: sessions as blocks, what waits, and what it would come to. */
export function describePlan(plan: RunPlan, output: Output): string {
  const {
    source,
    harness,
    model,
    sessions,
    waiting,
    notes,
    complexity,
    domain,
    tracking,
    parallel,
  } = plan
  const count = sessions.reduce((sum, { tasks }) => sum + tasks.length, 0)
  const who = [harness, model].filter((part) => part !== undefined).map((part) => line(part, 60))
  const seconds = sessions.reduce((sum, session) => sum + session.seconds, 0)
  return [
    `📐 ${output.bold(count === 0 ? 'Nothing to do' : `${plural(count, 'task')}${parallel === undefined ? ` in ${plural(sessions.length, 'session')}` : `, up to ${parallel.most} at once`}`)}`,
    `   From ${line(source)}, with ${who.join(', ')}`,
    ...(count === 0
      ? []
      : [
          `   ${complexity} work (${domain}): ${tracking === 'light' ? 'little' : 'each turn and the code of each task'} is recorded besides`,
        ]),
    ...(parallel === undefined
      ? sessions.flatMap((session, index) => ['', ...sessionBlock(session, index, output)])
      : ['', ...waveBlock(sessions, parallel, output)]),
    ...(count === 0
      ? []
      : [
          '',
          `   ${output.bold('In all')}  about ${roughly(parallel?.seconds ?? seconds)}, ${costOf(sessions)}`,
        ]),
    ...(count === 0 || parallel === undefined
      ? []
      : [`   ${' '.repeat('In all'.length)}  ${shareWords(parallel)}`]),
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

/** What would be begun when, and what it waits for until then. */
function waveBlock(
  sessions: readonly PlannedRunSession[],
  { waves }: PlannedParallel,
  output: Output,
): readonly string[] {
  const planned = new Map(
    sessions.flatMap(({ tasks, seconds }) =>
      tasks.map((task) => [task.task.id, { ...task, seconds }]),
    ),
  )
  const rows = waves.flatMap(({ at, tasks }) =>
    tasks.map(({ task, because = '' }, index) => {
      const { seconds = 0, sizeClass = '' } = planned.get(task.id) ?? {}
      const when = index > 0 ? '' : at === 0 ? 'at once' : `after ${roughly(at)}`
      return [
        `   ${when}`,
        `○ ${line(task.name, 32)}`,
        sizeClass,
        `about ${roughly(seconds)}`,
        line(because, 80),
      ]
    }),
  )
  return rows.length === 0 ? [] : [`   ${output.bold('Begun')}`, ...table(rows)]
}

function shareWords({ share, target, savedSeconds }: PlannedParallel): string {
  const percent = (of: number) => `${Math.round(of * 100)} %`
  const saved =
    savedSeconds > 0 ? `; about ${roughly(savedSeconds)} less than one after the other` : ''
  return `${percent(share)} of the tasks beside another (aim ${percent(target)})${saved}`
}

/** A part of the cost would look like the whole. */
function costOf(sessions: readonly PlannedRunSession[]): string {
  const sum = sessions.reduce<number | undefined>(
    (so, { usd }) => (so === undefined || usd === undefined ? undefined : so + usd),
    0,
  )
  return sum === undefined ? 'cost unknown' : `about ${cents(sum)}`
}
