import { createStore, useStore } from '../data/store.ts'
import { formatAge, formatClock, formatDay, formatTokens, formatUsd } from './format.ts'
import { setQuery, useQuery } from '../data/router.ts'
import type { Spend, Usage } from '../../src/serve/contract.ts'
import type { ComponentChildren } from 'preact'

const minuteNow = createStore(Date.now())
setInterval(() => minuteNow.set(Date.now()), 30_000)

/** How long ago; the whole date is in its title. */
export function Time({ at }: { at: string }) {
  const now = useStore(minuteNow)
  return (
    <time dateTime={at} title={`${formatDay(at)} ${formatClock(at)}`}>
      {formatAge(at, now)}
    </time>
  )
}

/** The hour and minute, with the day where that is not today. */
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
const USUAL = 30

/** How many days are looked at, as the address says. */
export function useSpan(): number {
  const asked = useQuery().get('days')
  return SPANS.find((one) => String(one) === asked) ?? USUAL
}

export function SpanChoice({ span }: { span: number }) {
  return (
    <div class="segments" role="group" aria-label="How many days">
      {SPANS.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === span}
          onClick={() => setQuery({ days: one === USUAL ? undefined : String(one) })}
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

/** What it cost; a dash with a reason where no price is known. */
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

/** What something cost, or how many tokens where no price is known. */
export function SpendLabel({ spend }: { spend: Spend }) {
  const all = spend.input + spend.cacheWritten + spend.cacheRead + spend.output
  if (all === 0) return null
  return (
    <span class="number" title={inWords(spend)}>
      {spend.usd === undefined ? `${formatTokens(all)} tokens` : formatUsd(spend.usd)}
    </span>
  )
}

/** The tokens of one request to a model: read, of these from its cache, and written. */
export function RequestTokens({ usage }: { usage: Usage }) {
  const read = usage.input + usage.cacheWritten + usage.cacheRead
  return (
    <span class="number" title={inWords(usage)}>
      {formatTokens(read)} in · {formatTokens(usage.output)} out
    </span>
  )
}

function inWords({ input, cacheWritten, cacheRead, output }: Usage): string {
  const parts = [
    `${formatTokens(input)} read`,
    `${formatTokens(cacheRead)} from the cache`,
    `${formatTokens(cacheWritten)} into the cache`,
    `${formatTokens(output)} written`,
  ]
  return parts.join(', ')
}

/** A few figures with their names, side by side. */
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

/** So many of so many, as a bar and in numbers. */
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

/** The word for how something stands. The word is what says it; the colour only helps the eye. */
export function StatusBadge({ of }: { of: string }) {
  return <Badge tone={TONES[of] ?? 'plain'}>{of.replaceAll('_', ' ')}</Badge>
}
