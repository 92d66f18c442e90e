import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stateHome } from '../../src/journal/state-home.ts'
import { ownMarkPath, writeConsent } from '../../src/project/config/consent.ts'
import { hashOf } from '../../src/project/config/effects.ts'
import { valuesToAgreeTo } from '../../src/project/trust/trust.ts'

/** Files whose values need the user's agreement. */
export function needsAgreement(path: string): boolean {
  return /^(?:\.sessions\/(?:config\.yaml$|workflows\/)|\.agents\/|\.claude\/agents\/)/.test(path)
}

/** A log that a test wrote by hand counts as written on this machine. */
export function markAsOwn(root: string, path: string): void {
  const [, id] = /^\.sessions\/journal\/([^/]+)\/log\.jsonl$/.exec(path) ?? []
  if (id === undefined) return
  const mark = ownMarkPath(root, id)
  mkdirSync(dirname(mark), { recursive: true })
  writeFileSync(mark, join(root, path))
}

/** What `stint trust --yes` records, for the values as they are now, on the machine that `env` describes. */
export function agreeTo(root: string, env: NodeJS.ProcessEnv = process.env): void {
  const before = process.env.STINT_STATE_HOME
  process.env.STINT_STATE_HOME = stateHome(env)
  try {
    const values = Object.entries(valuesToAgreeTo({ root, sessions: join(root, '.sessions') }))
    writeConsent({
      root: realpathSync(root),
      at: '2026-01-01T00:00:00.000Z',
      values: Object.fromEntries(values.map(([name, value]) => [name, hashOf(value)])),
      verify: [],
      journals: true,
    })
  } finally {
    if (before === undefined) delete process.env.STINT_STATE_HOME
    else process.env.STINT_STATE_HOME = before
  }
}
