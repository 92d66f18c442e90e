// A harness is added by registering it; no other code needs its name.
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseHarnessName } from '../../src/cli/context/run-flags.ts'
import { estimated } from '../../src/context/budget/budget.ts'
import type { Harness } from '../../src/harness/contract/drive.ts'
import type { FileHistory } from '../../src/harness/contract/history.ts'
import type { HarnessHooks } from '../../src/harness/contract/hooks.ts'
import type { HarnessSetup } from '../../src/harness/contract/setup.ts'
import { limitsByRule } from '../../src/harness/contract/limits.ts'
import {
  type HarnessDefinition,
  drivableNames,
  findHarness,
  importableHarnesses,
  installableHarnesses,
  readHookEvent,
  registerHarness,
} from '../../src/harness/registry.ts'
import { importHistories } from '../../src/project/import/import-histories.ts'
import { computeBudget } from '../../src/project/conversation/compute-budget.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { loadHarness } from '../../src/run/loop/make-run-context.ts'
import { gitProject } from '../support/project.ts'
import { scratchFolder } from '../support/scratch.ts'

const CONVERSATION = 'otter-1'

const drive: Harness = {
  name: 'otter',
  capabilities: {
    multiTurn: false,
    usage: 'none',
    compactionEvents: false,
    resume: false,
    systemPrompt: false,
    permissions: ['all'],
    instructions: [],
  },
  missing: async () => undefined,
  check: async () => ({ isThere: true, version: '1' }),
  open: async () => Promise.reject(new Error('not opened here')),
}

const hooks = {
  readEvent: (json: string) => {
    const { otter, cwd } = JSON.parse(json) as { otter?: string; cwd: string }
    return otter === undefined
      ? undefined
      : {
          harness: 'otter',
          kind: 'stop',
          name: otter,
          conversation: CONVERSATION,
          cwd,
          isContinued: false,
        }
  },
  printResponse: (event: string, { model = '' }: { readonly model?: string }) =>
    `${event}: ${model}`,
} as unknown as HarnessHooks

const history: FileHistory = {
  form: 'files',
  name: 'otter',
  repeatsItems: false,
  files: () => [],
  filesAt: (path) => [{ path, form: 'lines' }],
  head: () => ({ conversation: CONVERSATION }),
  createTranslator: () => ({
    translate: (line, offset) => [
      {
        type: 'message',
        id: `m${offset}`,
        at: '2026-01-01T00:00:00.000Z',
        role: 'user',
        parts: [{ type: 'text', text: line.toString() }],
      },
    ],
    flush: () => [],
    heldFrom: () => undefined,
    state: () => ({}),
  }),
}

const setup: HarnessSetup = {
  supportedFlags: new Set(['dryRun', 'json']),
  setUp: () => ({ changes: [], record: undefined, folders: [], notes: ['the otter is set up'] }),
  nextStep: () => 'Start otter.',
}

const otter: HarnessDefinition = {
  name: 'otter',
  title: 'Otter',
  hooks,
  limits: limitsByRule('otter', 'half of the window', (window) => window / 2),
  drive: async () => drive,
  history: async () => history,
  setup: async () => setup,
}

let unregister = () => {}
beforeEach(() => void (unregister = registerHarness(otter)))
afterEach(() => unregister())

test('a registered harness can be driven by its name', async () => {
  expect(drivableNames()).toContain('otter')
  expect(parseHarnessName('otter')).toBe('otter')
  expect(await loadHarness('otter', new Workspace(gitProject().root))).toBe(drive)
  unregister()
  expect(() => parseHarnessName('otter')).toThrow('there is no harness "otter"')
})

test('a registered harness can be imported from', async () => {
  expect(importableHarnesses()).toContain('otter')
  const project = gitProject()
  project.write('said.txt', 'hello\n')
  const workspace = new Workspace(project.root)
  const report = await importHistories(workspace, {
    harnesses: ['otter'],
    paths: [join(project.root, 'said.txt')],
  })
  workspace.close()
  expect(report).toMatchObject({ messages: 1, conversations: [{ harness: 'otter' }] })
})

test('a registered harness can be set up', async () => {
  expect(installableHarnesses()).toContain('otter')
  expect(await findHarness('otter')!.setup!()).toBe(setup)
})

test('the budget of a conversation follows the limits of its harness', () => {
  const known = computeBudget({
    harness: 'otter',
    configured: 10_000,
    root: scratchFolder(),
    env: {},
    now: '2026-01-01T00:00:00.000Z',
  })
  expect(known.point).toEqual(estimated(5000, 'otter: half of the window', known.window!.at))
})

test('a hook reads the events of a registered harness and prints in its format', () => {
  const event = readHookEvent(JSON.stringify({ otter: 'Rest', cwd: '/' }))
  expect(event).toMatchObject({ harness: 'otter', kind: 'stop' })
  expect(hooks.printResponse(event!.name, { model: 'go on' })).toBe('Rest: go on')
})
