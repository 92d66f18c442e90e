// Rows of delegates as the command line receives them, without starting any.
import type { DelegateDetail, DelegateRow } from '../../src/run/delegate/delegate-row.ts'

export const NOW = '2026-03-02T12:00:00.000Z'

export function row(fields: Partial<DelegateRow> = {}): DelegateRow {
  const { name = 'fix-login' } = fields
  return {
    id: `0199f0aa-7c3e-7b11-8a51-${name.length.toString().padStart(12, '0')}`,
    name,
    status: 'ready',
    isOrphaned: false,
    what: 'Stop the login loop',
    harness: 'claude',
    branch: `stint/auth/${name}`,
    tree: `/state/worktrees/p/delegate-${name}`,
    target: 'main',
    isReadOnly: false,
    startedAt: '2026-03-02T11:00:00.000Z',
    since: '2026-03-02T11:50:00.000Z',
    seconds: 252,
    spend: { input: 1000, cacheRead: 80_000, cacheWritten: 5000, output: 1000, usd: 0.42 },
    commits: 2,
    ...fields,
  }
}

export function detail(fields: Partial<DelegateDetail> = {}): DelegateDetail {
  return {
    ...row(fields),
    order: {
      name: 'fix-login',
      what: 'Stop the login loop',
      target: 'main',
      isReadOnly: false,
      files: [],
      slot: 0,
      brief: '',
    },
    base: '1111111111111111111111111111111111111111',
    commitList: [],
    stat: '',
    attempts: [],
    rejected: 0,
    sessions: [],
    keptRefs: [],
    notes: [],
    logPath: '/p/.sessions/runs/x/log.jsonl',
    ...fields,
  }
}
