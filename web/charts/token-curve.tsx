import { useEffect, useRef, useState } from 'preact/hooks'
import type { TokenCurveData as Curve } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { pluralize } from '../components/format.ts'
import { Pending } from '../components/states.tsx'
import { type Column, DataTable } from '../components/data-table.tsx'
import { Clock } from '../components/values.tsx'
import { theme } from '../shell/theme.ts'
import { drawCurve } from './curve-plot.ts'
import { type CurveSeries, sampled, seriesOf, shortCount } from './curve-series.ts'

const MAX_ROWS = 200

export function TokenCurveChart({ conversation }: { conversation: string }) {
  const { value, failure, reload } = useResource(
    `curve ${conversation}`,
    (signal) => api.curve(conversation, signal),
    (event) => event.type === 'conversation' && event.conversation === conversation,
  )
  if (value === undefined)
    return <Pending failure={failure} retry={reload} label="Loading the curve" lines={4} />
  if (value.points.length === 0)
    return <p class="curve-none">How full its context was is not known: no usage was told in it.</p>
  return <CurveFigure curve={value} />
}

function CurveFigure({ curve }: { curve: Curve }) {
  const [isFitted, setFitted] = useState(false)
  const series = seriesOf(curve)
  const now = series.y.at(-1) ?? 0
  // With little usage the reference lines are far above the curve.
  const canFit = series.most * 1.5 < series.top
  return (
    <figure class="curve">
      <figcaption class="curve-head">
        <span class="curve-title">Context</span>
        <span class="curve-facts">{facts(curve, now)}</span>
        {canFit ? (
          <button
            class="quiet-button"
            type="button"
            aria-pressed={isFitted}
            onClick={() => setFitted(!isFitted)}
          >
            Fit
          </button>
        ) : null}
      </figcaption>
      <CurveCanvas
        curve={curve}
        series={series}
        top={isFitted && canFit ? series.most * 1.1 : series.top}
      />
      <details class="curve-table">
        <summary>As a table</summary>
        <CurveTable curve={curve} />
      </details>
    </figure>
  )
}

function facts({ point, window, compactions, isPointMeasured }: Curve, now: number): string {
  const progress =
    point === undefined
      ? 'where it compacts is not known'
      : `${Math.round((now / point) * 100)}% of the way to compaction at ${shortCount(point)}${isPointMeasured ? '' : ' (estimated)'}`
  const compacted = compactions.length === 0 ? [] : [pluralize(compactions.length, 'compaction')]
  const size = window === undefined ? [] : [`window ${shortCount(window)}`]
  return [`${shortCount(now)} tokens`, progress, ...compacted, ...size].join(' · ')
}

function CurveCanvas({ curve, series, top }: { curve: Curve; series: CurveSeries; top: number }) {
  const host = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<{ index: number; left: number; top: number }>()
  useEffect(() => {
    const element = host.current
    if (element === null) return undefined
    const plot = drawCurve(element, series, top, (index, left, above) =>
      setAt(index === undefined ? undefined : { index, left, top: above }),
    )
    const sizes = new ResizeObserver(() => plot.resize())
    sizes.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const recolour = (): void => plot.recolour()
    scheme.addEventListener('change', recolour)
    // The theme is applied to the document by another subscriber.
    const stop = theme.subscribe(() => queueMicrotask(recolour))
    return () => {
      sizes.disconnect()
      scheme.removeEventListener('change', recolour)
      stop()
      plot.destroy()
    }
  }, [curve, top])
  const point = at === undefined ? undefined : curve.points[at.index]
  return (
    <div class="curve-canvas" role="img" aria-label={describeCurve(curve, series)}>
      <div ref={host} />
      {at === undefined || point === undefined ? null : (
        <div
          class="curve-tip"
          style={{ left: `${at.left}px`, top: `${at.top}px` }}
          aria-hidden="true"
        >
          <strong>{point.tokens.toLocaleString('en')}</strong> tokens
          <br />
          turn {point.turn}
          {point.at === undefined ? null : (
            <>
              {' · '}
              <Clock at={point.at} />
            </>
          )}
        </div>
      )}
    </div>
  )
}

function describeCurve(curve: Curve, { most, y }: CurveSeries): string {
  const turns = pluralize(new Set(curve.points.map(({ turn }) => turn)).size, 'turn')
  const compacted = pluralize(curve.compactions.length, 'compaction')
  return `Tokens in the context over ${turns}: ${shortCount(most)} at most, ${shortCount(y.at(-1) ?? 0)} now, ${compacted}. The same as a table follows.`
}

type CurvePoint = Curve['points'][number]

function CurveTable({ curve }: { curve: Curve }) {
  const isCompacted = new Set(curve.compactions.map(({ turn }) => turn))
  const rows = sampled(curve.points, MAX_ROWS).map((point, index) => ({
    ...point,
    key: String(index),
  }))
  const columns: readonly Column<CurvePoint>[] = [
    { name: 'Turn', of: ({ turn }) => turn },
    { name: 'At', of: ({ at }) => (at === undefined ? '' : <Clock at={at} />) },
    { name: 'Tokens', as: 'number', of: ({ tokens }) => tokens.toLocaleString('en') },
    {
      name: 'Of the way',
      as: 'number',
      of: ({ tokens }) =>
        curve.point === undefined ? '–' : `${Math.round((tokens / curve.point) * 100)}%`,
    },
    { name: 'Compacted', of: ({ turn }) => (isCompacted.has(turn) ? 'yes' : '') },
  ]
  return (
    <DataTable
      label="Tokens by turn"
      columns={columns}
      rows={rows}
      keyOf={({ key }) => key}
      whenNarrow="scroll"
    />
  )
}
