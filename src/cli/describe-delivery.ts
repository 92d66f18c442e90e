import type { Delivery } from '../project/delivery.ts'
import { minute } from '../text/times.ts'

/** Each text that was given, and where in the harness's transcript it stands. */
export function describeDeliveries(deliveries: readonly Delivery[]): string {
  if (deliveries.length === 0) return 'Nothing has been put before a model in this session.'
  const arrived = deliveries.filter(({ evidence }) => evidence !== undefined).length
  return [
    `${arrived} of ${deliveries.length} arrived, as the transcripts show:`,
    ...deliveries.map(line),
  ].join('\n')
}

function line({ at, conversation, event, why, mark, chars, evidence, without }: Delivery): string {
  const proof =
    evidence === undefined ? `✗ ${without}` : `✓ line ${evidence.line} of ${evidence.file}`
  return `${minute(at)}  ${conversation.slice(0, 8)}  ${event}${why === '' ? '' : ` (${why})`}  ${chars} characters  [stint:${mark}]  ${proof}`
}
