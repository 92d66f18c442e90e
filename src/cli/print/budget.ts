import { budgetLine, isPercent, stageAction, tokensAt } from '../../core.ts'
import { formatInteger } from '../../text/format-amounts.ts'
import type {
  ConversationBudget,
  SourcedValue,
  RateLimit,
  BudgetStage,
  UsedTokens,
} from '../../library.ts'
import { durationBetween, formatToMinute, formatToSecond } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { dollars, joinLines } from './terminal/text.ts'

/** For `--json`: an unknown figure is marked as unknown, not left out. */
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
    tokens: orUnknown(budget.tokens),
    window: orUnknown(budget.window),
    compactsAt: orUnknown(budget.point),
    percentOfWay: percent,
    stages: settings.stages,
    stageReached: stage,
    nextStage: next,
    smartZone: {
      line: settings.smartZone,
      isPast: budget.tokens === undefined ? undefined : isPastSmartZone(budget),
    },
    startedAt: orUnknown(budget.startedAt),
    costUsd: orUnknown(budget.cost),
    fiveHour: orUnknown(budget.fiveHour),
    sevenDay: orUnknown(budget.sevenDay),
    used: orUnknown(budget.used),
    delegated: orUnknown(budget.delegated),
  }
}

function orUnknown<T>(figure: SourcedValue<T> | undefined): SourcedValue<T> | { known: 'unknown' } {
  return figure ?? { known: 'unknown' }
}

export function describeBudgetBriefly(budget: ConversationBudget): string {
  const { stage, cost } = budget
  return [
    budgetLine(budget),
    ...(stage === undefined ? [] : [`stage ${stageName(stage)}`]),
    ...(cost === undefined ? [] : [dollars(cost.value)]),
  ].join(' · ')
}

export function describeBudget(budget: ConversationBudget, output: Output): string {
  const { conversation, harness, model, version, session } = budget
  const program = [[harness, version].filter(Boolean).join(' '), model].filter(Boolean).join(', ')
  return joinLines(
    `📊 ${output.bold(session?.name ?? 'no session')} · conversation ${conversation.slice(0, 8)} · ${program}`,
    '',
    drawGauge(budget),
    '',
    rows(budget),
    '',
    nextStepText(budget),
  )
}

const GAUGE_WIDTH = 60

function drawGauge({ tokens, point, settings }: ConversationBudget) {
  if (tokens === undefined || point === undefined)
    return `[${'?'.repeat(GAUGE_WIDTH)}] ${tokens === undefined ? 'how full it is' : 'where it compacts'} is unknown`
  const column = (at: number) => Math.min(GAUGE_WIDTH, Math.floor((at / point.value) * GAUGE_WIDTH))
  const filled = column(tokens.value)
  const bar = [...'█'.repeat(filled), ...'░'.repeat(GAUGE_WIDTH - filled)]
  const labels = [...' '.repeat(GAUGE_WIDTH + 8)]
  for (const stage of settings.stages) {
    const at = column(tokensAt(stage, point.value) ?? Infinity)
    if (at >= GAUGE_WIDTH) continue
    bar[at] = '┃'
    const label = isPercent(stage) ? String(stage) : `${Math.round(stage / 1000)}k`
    // After the opening bracket; a label that would overlap the one before it is left out.
    if (labels[at] === ' ') labels.splice(at + 1, label.length, ...label)
  }
  return `[${bar.join('')}] ${formatInteger(point.value)}\n${labels.join('').trimEnd()}`
}

function rows(budget: ConversationBudget) {
  const { tokens, point, delegated, settings, now } = budget
  const plainRow = (name: string, text: string) => `${name.padEnd(14)}  ${text}`
  const row = <T>(
    name: string,
    figure: SourcedValue<T> | undefined,
    format: (value: T) => string,
  ) => {
    if (figure === undefined) return plainRow(name, 'unknown')
    const { value, known, from, at } = figure
    return plainRow(
      name,
      `${format(value).padEnd(24)}  ${known.padEnd(9)}  ${from}, ${ago(at, now)}`,
    )
  }
  const tokenText = (value: number) => `${formatInteger(value)} tokens`
  const tokensLeft =
    tokens && point
      ? `${tokenText(Math.max(0, point.value - tokens.value))} left, ${budget.percent}% of the way done`
      : 'unknown'
  const zoneText = `${isPastSmartZone(budget) ? 'past' : 'below'} the line of ${formatInteger(settings.smartZone)} tokens of history`
  return [
    row('in context', tokens, tokenText),
    row('window', budget.window, tokenText),
    row('compacts at', point, tokenText),
    plainRow('to compaction', tokensLeft),
    plainRow('smart zone', tokens === undefined ? 'unknown' : zoneText),
    row('age', budget.startedAt, (value) => durationBetween(value, now)),
    row('cost', budget.cost, dollars),
    row('5-hour limit', budget.fiveHour, limitText),
    row('weekly limit', budget.sevenDay, limitText),
    row('used in all', budget.used, usedText),
    ...(delegated === undefined ? [] : [row('delegated', delegated, usedText)]),
  ]
}

/** From a day on the date says more; price tables have only a date. */
function ago(at: string, now: string) {
  if (!at.includes('T')) return at
  const age = Date.parse(now) - Date.parse(at)
  if (Number.isNaN(age)) return 'at an unknown time'
  if (age < 60_000) return 'just now'
  return age < 86_400_000 ? `${durationBetween(at, now)} ago` : formatToMinute(at).slice(0, 10)
}

const STAGE_ADVICE = {
  warn: 'write down what only this conversation knows',
  suggest: 'hand over soon, at the next good place to stop',
  force: 'hand over now, before it is compacted',
} as const

function nextStepText({ tokens, point, stage, next, settings, percent = 0 }: ConversationBudget) {
  if (tokens === undefined)
    return 'It has not answered yet, or nothing can be read of it: what comes next is unknown.'
  const adviceFor = (reached: BudgetStage) => STAGE_ADVICE[stageAction(reached, settings)]
  const unreachable = settings.stages.filter(
    (each) => point !== undefined && (tokensAt(each, point.value) ?? 0) > point.value,
  )
  return [
    stage === undefined
      ? 'No stage is reached.'
      : `Stage ${stageName(stage)} is reached: ${adviceFor(stage)}.`,
    next !== undefined &&
      !unreachable.includes(next.stage) &&
      `Next: stage ${stageName(next.stage)} in ${formatInteger(next.left)} tokens: ${adviceFor(next.stage)}.`,
    unreachable.map(
      (each) => `Stage ${stageName(each)} lies behind the compaction point and is never reached.`,
    ),
    percent >= 100 &&
      'It compacts with its next call, or, where the client waits for a full window, at the end of that.',
  ]
}

function stageName(stage: BudgetStage) {
  return isPercent(stage) ? `${stage}%` : formatInteger(stage)
}

function isPastSmartZone({ tokens, settings }: ConversationBudget) {
  return (tokens?.value ?? 0) >= settings.smartZone
}

function limitText({ percent, resetsAt }: RateLimit) {
  const until =
    resetsAt === undefined
      ? ''
      : `, until ${formatToSecond(resetsAt).slice(5, 16).replace('T', ' ')}`
  return `${Math.round(percent)}%${until}`
}

function usedText({ input, output, cacheRead, cacheWritten, calls }: UsedTokens) {
  const callsText =
    calls === undefined ? '' : `, ${formatInteger(calls)} ${calls === 1 ? 'call' : 'calls'}`
  return `${formatInteger(input)} in, ${formatInteger(cacheWritten)} into the cache, ${formatInteger(cacheRead)} from it, ${formatInteger(output)} out${callsText}`
}
