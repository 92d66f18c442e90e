import { createStore, useStore } from '../data/store.ts'
import { formatAge, formatClock, formatDay, formatTokens, formatUsd } from './format.ts'
import { setQuery, useQuery } from '../data/router.ts'
import type { Spend, Usage } from '../../src/serve/contract.ts'
import type { ComponentChildren } from 'preact'

const minuteNow = createStore(Date.now())
setInterval(() => minuteNow.set(Date.now()), 30_000)

/** The age; the full date is in the title. */
export function Time({ at }: { at: string }) {
  const now = useStore(minuteNow)
  return (
    <time dateTime={at} title={`${formatDay(at)} ${formatClock(at)}`}>
      {formatAge(at, now)}
    </time>
  )
}

/** Hour and minute, with the day when it is not today. */
export function Clock({ at }: { at: string }) {
  const now = useStore(minuteNow)
  const isToday = formatDay(at) === formatDay(new Date(now).toISOString())
  return (
    <time dateTime={at} title={`${formatDay(at)} ${formatClock(at)}`}>
      {isToday ? formatClock(at) : `${formatDay(at).slice(5)} ${formatClock(at)}`}
    </time>
  )
}

const SPANS = [7, 30, 90] as const
const DEFAULT_SPAN = 30

/** The number of days, from the URL. */
export function useSpan(): number {
  const days = useQuery().get('days')
  return SPANS.find((one) => String(one) === days) ?? DEFAULT_SPAN
}

export function SpanChoice({ span }: { span: number }) {
  return (
    <div class="segments" role="group" aria-label="How many days">
      {SPANS.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === span}
          onClick={() => setQuery({ days: one === DEFAULT_SPAN ? undefined : String(one) })}
        >
          {one} days
        </button>
      ))}
    </div>
  )
}

export function sumTokens({ input, cacheWritten, cacheRead, output }: Usage): number {
  return input + cacheWritten + cacheRead + output
}

export function Cost({ of }: { of: Spend }) {
  if (of.usd !== undefined) return <span class="figure">{formatUsd(of.usd)}</span>
  if (sumTokens(of) === 0) return <span class="figure">–</span>
  return (
    <span class="figure" title="No price is known for a model that was used">
      no price
    </span>
  )
}

export function Tokens({ of }: { of: Usage }) {
  const { input, cacheWritten, cacheRead, output } = of
  return (
    <span
      class="figure"
      title={`${formatTokens(input)} in, ${formatTokens(cacheWritten)} written to and ${formatTokens(cacheRead)} read from the cache, ${formatTokens(output)} out`}
    >
      {formatTokens(sumTokens(of))}
    </span>
  )
}

/** The cost, or the tokens when no price is known. */
export function SpendLabel({ spend }: { spend: Spend }) {
  const all = sumTokens(spend)
  if (all === 0) return null
  return (
    <span class="number" title={describeUsage(spend)}>
      {spend.usd === undefined ? `${formatTokens(all)} tokens` : formatUsd(spend.usd)}
    </span>
  )
}

export function RequestTokens({ usage }: { usage: Usage }) {
  const read = usage.input + usage.cacheWritten + usage.cacheRead
  return (
    <span class="number" title={describeUsage(usage)}>
      {formatTokens(read)} in · {formatTokens(usage.output)} out
    </span>
  )
}

function describeUsage({ input, cacheWritten, cacheRead, output }: Usage): string {
  const parts = [
    `${formatTokens(input)} read`,
    `${formatTokens(cacheRead)} from the cache`,
    `${formatTokens(cacheWritten)} into the cache`,
    `${formatTokens(output)} written`,
  ]
  return parts.join(', ')
}

export function FigureList({
  of,
}: {
  of: readonly { readonly name: string; readonly value: ComponentChildren }[]
}) {
  return (
    <dl class="figures">
      {of.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Progress({ done, total }: { done: number; total: number }) {
  if (total === 0) return null
  return (
    <span class="progress" title={`${done} of ${total} steps done`}>
      <progress max={total} value={done} aria-label="Steps done" />
      <span class="number">
        {done}/{total}
      </span>
    </span>
  )
}

export type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad'

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return (
    <span class="badge" data-tone={tone}>
      {children}
    </span>
  )
}

const TONES: Readonly<Record<string, Tone>> = {
  active: 'accent',
  running: 'accent',
  in_progress: 'accent',
  'in progress': 'accent',
  completed: 'good',
  done: 'good',
  merged: 'good',
  accepted: 'good',
  finished: 'good',
  paused: 'warn',
  waiting: 'warn',
  'waiting for approval': 'warn',
  stale: 'warn',
  resumable: 'warn',
  blocked: 'warn',
  parked: 'bad',
  failed: 'bad',
  conflicted: 'bad',
  mismatch: 'bad',
}

export function StatusBadge({ of }: { of: string }) {
  return <Badge tone={TONES[of] ?? 'plain'}>{of.replaceAll('_', ' ')}</Badge>
}
