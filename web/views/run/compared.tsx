import type { Comparison } from '../../../src/serve/contract.ts'
import { tokens, usd } from '../../parts/format.ts'
import { Text } from '../../parts/text.tsx'

function SavedLine({ usd: saved }: { usd: number }) {
  if (Math.abs(saved) < 0.005) return <>In all it comes to the same. </>
  return (
    <>
      {saved > 0 ? 'In all cheaper by ' : 'In all dearer by '}
      <strong>{usd(Math.abs(saved))}</strong>.{' '}
    </>
  )
}

/** Both sides, drawn to one scale. */
export function Compared({ compared, prices }: { compared: Comparison; prices: string }) {
  const { boilerplateAvoided, historyReread, profilesNotLoaded, savedUsd } = compared
  const sides = [
    { name: 'Set-up that was not said again', value: boilerplateAvoided, tone: 'good' },
    { name: 'Profiles that were never loaded', value: profilesNotLoaded, tone: 'good' },
    { name: 'Earlier tasks that were read again', value: historyReread, tone: 'bad' },
  ] as const
  const most = Math.max(...sides.map(({ value }) => value), 1)
  return (
    <div class="compared">
      <dl class="sides">
        {sides.map(({ name, value, tone }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span class="side-bar" aria-hidden="true">
                <span data-tone={tone} style={{ width: `${(value / most) * 100}%` }} />
              </span>
              <span class="number">{tokens(value)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p class="muted small">
        {savedUsd === undefined ? (
          'What that comes to is not known: a model has no price. '
        ) : (
          <SavedLine usd={savedUsd} />
        )}
        <Text>{prices}</Text>
      </p>
    </div>
  )
}
