import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { expectNoneLeft } from '../support/processes.ts'
import { scratchFolder } from '../support/scratch.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

test('the tour runs a session, a two-session run with failure and handoff, and two merging delegates', async () => {
  const folder = scratchFolder()
  const env = { ...process.env, TMPDIR: folder }
  const output = execFileSync(process.execPath, [join(root, 'scripts', 'tour.mjs')], { env, encoding: 'utf8' })
  const inOrder = [
    'Session Initialized: fix-sweep-bug',
    'Resuming Session: fix-sweep-bug',
    'Healthy.',
    '3 tasks in 1 session',
    'log-each-sweep: verify FAILED',
    'trying again in the same conversation',
    '✓ log-each-sweep done',
    'conversation 2 opened, with a handoff',
    '✓ write-the-runbook done',
    'Run ',
    ': 3 done of 3',
    'rehearse write-the-runbook',
    'Delegate Started: time-each-sweep',
    'Delegate Started: label-each-sweep',
    '✓ time-each-sweep merged into fix/sweep-trigger',
    'label-each-sweep conflicted',
    '✓ label-each-sweep merged into fix/sweep-trigger',
    'bring label and time together',
    'Milliseconds',
    '5 conversations',
    `Everything above is in ${folder}`,
    '$ stint serve',
    'http://127.0.0.1:',
  ]
  let at = 0
  for (const part of inOrder) {
    expect(output.slice(at)).toContain(part)
    at = output.indexOf(part, at) + part.length
  }
  await expectNoneLeft(`STINT_STATE_HOME=${folder}`)
}, 180_000)
