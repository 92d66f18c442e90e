import { api } from '../../data/api.ts'
import { useResource } from '../../data/resource.ts'
import { amount, bytes, moments, tokens } from '../../parts/format.ts'
import { hrefTo } from '../../data/router.ts'
import { LEDGER_PAUSE_MS, avoidedIn } from '../ledger/amounts.ts'

/** What Stint itself cost in a session, in a line. Nobody waits for it, and where it cannot be had nothing is missing. */
export function OwnCosts({ session }: { session: string }) {
  const { value } = useResource(
    `ledger of ${session}`,
    (signal) => api.ledger({ session }, signal),
    (event) => event.type === 'entries' && event.session === session,
    LEDGER_PAUSE_MS,
  )
  if (value === undefined) return null
  const { costs, savings } = value.whole
  const avoided = avoidedIn(savings)
  const facts = [
    `${tokens(costs.injectedTokens)} tokens given`,
    ...(avoided === 0 ? [] : [`${tokens(avoided)} avoided`]),
    ...(costs.hooks === 0 ? [] : [`${moments(costs.hookMs)} in ${amount(costs.hooks, 'hook')}`]),
    `${bytes(costs.bytes)} on disk`,
  ]
  return (
    <p class="muted small">
      Stint itself: {facts.join(' · ')} <a href={hrefTo.ledger(session)}>Ledger</a>
    </p>
  )
}
