import { readTroubles } from '../conversation/troubles.ts'
import { second } from '../../text/times.ts'
import { trackingFolderOf } from '../store/conversation-binding.ts'
import type { Place } from '../store/place.ts'
import { type Check, Findings, plural } from './report.ts'

const SHOWN = 20

export function checkHooks(place: Place): Check {
  const findings = new Findings('hooks')
  for (const { at, event, message } of readTroubles(trackingFolderOf(place)).slice(-SHOWN)) {
    findings.note(`${second(at)} ${event}: ${message.split('\n').slice(0, 3).join(' ')}`)
  }
  return findings.check(
    'no hook had trouble',
    (count) => `${plural(count, 'trouble')} of hooks; no agent failed for it`,
  )
}
