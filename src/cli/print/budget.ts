import { budgetLine, isPercent, roleOf, tokensAt } from '../../core.ts'
import type { ConversationBudget, Figure, Limit, Role, Stage, Used } from '../../library.ts'
import { number } from '../../text/amounts.ts'
import { duration, minute, second } from '../../text/times.ts'
import { dollars } from './terminal/amounts.ts'
import type { Output } from '../context/output.ts'

/** What `--json` says: a figure that is not known says so, and is not missing. */
export function budgetJson(budget: ConversationBudget) {
  const { conversation, harness, session, model, version, settings, percent, stage, next, now } =
    budget
  return {
    conversation,
    harness,
    session,
    model,
    version,
    now,
    tokens: told(budget.tokens),
    window: told(budget.window),
    compactsAt: told(budget.point),
    percentOfWay: percent,
    stages: settings.stages,
    stageReached: stage,
    nextStage: next,
    smartZone: {
      line: settings.smartZone,
      isPast: budget.tokens === undefined ? undefined : isPastSmartZone(budget),
    },
    startedAt: told(budget.startedAt),
    costUsd: told(budget.cost),
    fiveHour: told(budget.fiveHour),
    sevenDay: told(budget.sevenDay),
    used: told(budget.used),
    delegated: told(budget.delegated),
  }
}

function told<T>(figure: Figure<T> | undefined): Figure<T> | { known: 'unknown' } {
  return figure ?? { known: 'unknown' }
}

/** One line, for a log of how it went. */
export function describeBudgetShortly(budget: ConversationBudget): string {
  const { stage, cost } = budget
  return [
    budgetLine(budget),
    ...(stage === undefined ? [] : [`stage ${stageName(stage)}`]),
    ...(cost === undefined ? [] : [dollars(cost.value)]),
  ].join(' · ')
}

/** Every figure with its mark and where it comes from, and a gauge. */
export function describeBudget(budget: ConversationBudget, output: Output): string {
  const { conversation, harness, model, version, session } = budget
  const program = [harness, version].filter(Boolean).join(' ')
  return [
    `📊 ${output.bold(session?.name ?? 'no session')} · conversation ${conversation.slice(0, 8)} · ${[program, model].filter(Boolean).join(', ')}`,
    '',
    ...gauge(budget),
    '',
    ...rows(budget),
    '',
    ...whatNext(budget),
  ].join('\n')
}

const WIDTH = 60

/** The way to the compaction point, with the stages on it. */
function gauge({ tokens, point, settings }: ConversationBudget): readonly string[] {
  if (tokens === undefined || point === undefined) {
    return [
      `[${'?'.repeat(WIDTH)}] ${tokens === undefined ? 'how full it is' : 'where it compacts'} is unknown`,
    ]
  }
  const column = (at: number) => Math.min(WIDTH, Math.floor((at / point.value) * WIDTH))
  const filled = column(tokens.value)
  const bar = Array.from({ length: WIDTH }, (_, index): string => (index < filled ? '█' : '░'))
  const labels = Array.from<string>({ length: WIDTH + 8 }).fill(' ')
  for (const stage of settings.stages) {
    const at = column(tokensAt(stage, point.value) ?? Infinity)
    if (at >= WIDTH) continue
    bar[at] = '┃'
    const label = isPercent(stage) ? String(stage) : `${Math.round(stage / 1000)}k`
    // Beside the opening bracket; one that would run into the label before it is left out.
    if (labels[at] === ' ') labels.splice(at + 1, label.length, ...label)
  }
  return [`[${bar.join('')}] ${number(point.value)}`, labels.join('').trimEnd()]
}

function rows(budget: ConversationBudget): readonly string[] {
  const {
    tokens,
    window,
    point,
    startedAt,
    cost,
    fiveHour,
    sevenDay,
    used,
    delegated,
    settings,
    percent,
    now,
  } = budget
  const left =
    tokens === undefined || point === undefined
      ? undefined
      : Math.max(0, point.value - tokens.value)
  const past = tokens === undefined ? '' : isPastSmartZone(budget) ? 'past' : 'below'
  return [
    row('in context', tokens, (value) => `${number(value)} tokens`, now),
    row('window', window, (value) => `${number(value)} tokens`, now),
    row('compacts at', point, (value) => `${number(value)} tokens`, now),
    plain(
      'to compaction',
      left === undefined ? 'unknown' : `${number(left)} tokens left, ${percent}% of the way done`,
    ),
    plain(
      'smart zone',
      past === ''
        ? 'unknown'
        : `${past} the line of ${number(settings.smartZone)} tokens of history`,
    ),
    row('age', startedAt, (value) => duration(value, now), now),
    row('cost', cost, dollars, now),
    row('5-hour limit', fiveHour, limit, now),
    row('weekly limit', sevenDay, limit, now),
    row('used in all', used, usedWords, now),
    ...(delegated === undefined ? [] : [row('delegated', delegated, usedWords, now)]),
  ]
}

function row<T>(
  name: string,
  figure: Figure<T> | undefined,
  words: (value: T) => string,
  now: string,
): string {
  if (figure === undefined) return plain(name, 'unknown')
  const { value, known, from, at } = figure
  return plain(name, `${words(value).padEnd(24)}  ${known.padEnd(9)}  ${from}, ${ago(at, now)}`)
}

function plain(name: string, text: string): string {
  return `${name.padEnd(14)}  ${text}`
}

/** A day or more back the date says more; a table has nothing but one. */
function ago(at: string, now: string): string {
  if (!at.includes('T')) return at
  const age = Date.parse(now) - Date.parse(at)
  if (Number.isNaN(age)) return 'at an unknown time'
  if (age < 60_000) return 'just now'
  return age < 86_400_000 ? `${duration(at, now)} ago` : minute(at).slice(0, 10)
}

function whatNext(budget: ConversationBudget): readonly string[] {
  const { tokens, point, stage, next, settings, percent } = budget
  if (tokens === undefined)
    return ['It has not answered yet, or nothing can be read of it: what comes next is unknown.']
  const reached =
    stage === undefined
      ? 'No stage is reached.'
      : `Stage ${stageName(stage)} is reached: ${ASKS[roleOf(stage, settings)]}.`
  const beyond =
    point === undefined
      ? []
      : settings.stages.filter((each) => (tokensAt(each, point.value) ?? 0) > point.value)
  return [
    reached,
    ...(next === undefined || beyond.includes(next.stage)
      ? []
      : [
          `Next: stage ${stageName(next.stage)} in ${number(next.left)} tokens: ${ASKS[roleOf(next.stage, settings)]}.`,
        ]),
    ...beyond.map(
      (each) => `Stage ${stageName(each)} lies behind the compaction point and is never reached.`,
    ),
    ...((percent ?? 0) < 100
      ? []
      : [
          'It compacts with its next call, or, where the client waits for a full window, at the end of that.',
        ]),
  ]
}

const ASKS: Readonly<Record<Role, string>> = {
  warn: 'write down what only this conversation knows',
  suggest: 'hand over soon, at the next good place to stop',
  force: 'hand over now, before it is compacted',
}

function stageName(stage: Stage): string {
  return isPercent(stage) ? `${stage}%` : number(stage)
}

function isPastSmartZone({ tokens, settings }: ConversationBudget): boolean {
  return (tokens?.value ?? 0) >= settings.smartZone
}

function limit({ percent, resetsAt }: Limit): string {
  return `${Math.round(percent)}%${resetsAt === undefined ? '' : `, until ${second(resetsAt).slice(5, 16).replace('T', ' ')}`}`
}

function usedWords({ input, output, cacheRead, cacheWritten, calls }: Used): string {
  const parts = [
    `${number(input)} in`,
    `${number(cacheWritten)} into the cache`,
    `${number(cacheRead)} from it`,
    `${number(output)} out`,
    ...(calls === undefined ? [] : [`${number(calls)} ${calls === 1 ? 'call' : 'calls'}`]),
  ]
  return parts.join(', ')
}
