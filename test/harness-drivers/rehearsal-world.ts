import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acpHarness } from '../../src/harness/acp/drive.ts'
import { rehearsalHarness } from '../../src/harness/rehearsal/drive.ts'
import type { RememberedConversation } from '../../src/harness/rehearsal/agent/serve-rehearsal.ts'
import type { Usage } from '../../src/session/entries.ts'
import type { Act, HarnessWorld } from '../contract/harness.ts'
import { gitProject } from '../support/project.ts'
import { scratchFolder } from '../support/scratch.ts'

const START = 20_000

/** Our own agent in its own project. It saves its state, so that its requests can be inspected. */
export async function rehearsalWorld(): Promise<HarnessWorld> {
  const folder = scratchFolder()
  const script = join(folder, 'script.json')
  const state = join(folder, 'state')
  writeFileSync(script, '{}')
  const conversations = () =>
    (existsSync(state) ? readdirSync(state) : [])
      .filter((name) => name !== 'turns.json' && name.endsWith('.json') && !name.startsWith('.'))
      .map((name) => JSON.parse(readFileSync(join(state, name), 'utf8')) as RememberedConversation)
  return {
    harness: rehearsalHarness({ script, state }),
    open: {
      cwd: gitProject().root,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_SYSTEM: '/dev/null',
      },
      permissions: 'all',
      allow: [],
    },
    script: (...turns) =>
      writeFileSync(script, JSON.stringify({ start: START, default: scripted(turns) })),
    seen: () =>
      conversations()
        .flatMap(({ said }) => said.filter(({ by }) => by === 'user').map(({ text }) => text))
        .join('\n'),
    spent: () =>
      conversations().reduce((sum, { spent }) => plus(sum, spent), {
        input: 0,
        cacheWritten: 0,
        cacheRead: 0,
        output: 0,
      }),
    missing: {
      harness: acpHarness({ name: 'nobody', command: 'no-such-agent', args: [] }),
      env: { PATH: '/usr/bin' },
    },
  }
}

/** Like a model behind an agent, it asks before it runs a command. */
function scripted(turns: readonly (readonly Act[])[]): readonly (readonly object[])[] {
  let context = START
  return turns.map((acts) =>
    acts.map((act) => {
      if ('run' in act) return { ask: act.run }
      if ('write' in act) return { write: { path: act.write, text: act.text } }
      if (!('tokens' in act)) return act
      const added = act.tokens - context
      context = act.tokens
      return { usage: added }
    }),
  )
}

function plus(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cacheWritten: a.cacheWritten + b.cacheWritten,
    cacheRead: a.cacheRead + b.cacheRead,
    output: a.output + b.output,
  }
}
