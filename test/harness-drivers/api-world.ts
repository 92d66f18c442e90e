import { onTestFinished } from 'vitest'
import { apiHarness } from '../../src/harness/api/drive.ts'
import type { ApiSettings, Provider } from '../../src/harness/contract/drive.ts'
import type { ConversationOptions } from '../../src/harness/contract/drive.ts'
import { type ConversationStore, conversationStore } from '../../src/history/store.ts'
import type { Act, HarnessWorld } from '../contract/harness.ts'
import { ModelStub, type Reply } from '../harness/model-stub.ts'
import { carriersOf } from '../support/processes.ts'
import { gitProject } from '../support/project.ts'
import { scratchFolder } from '../support/scratch.ts'

const NEVER = new Promise<never>(() => undefined)

/** A scripted bare model, in its own project with a store. Removed with the running test. */
export interface ApiWorld extends HarnessWorld {
  readonly stub: ModelStub
  readonly store: ConversationStore
  readonly settings: ApiSettings
  /** The same model with other settings. */
  with(settings: Partial<ApiSettings>): HarnessWorld['harness']
  readonly open: ConversationOptions
}

export async function apiWorld(provider: Provider): Promise<ApiWorld> {
  const stub = await new ModelStub().start()
  onTestFinished(() => stub.stop())
  const folder = scratchFolder()
  const { root } = gitProject()
  const store = conversationStore(folder, {})
  const mark = `API_WORLD=${folder}`
  const settings: ApiSettings = {
    provider,
    baseUrl: provider === 'openai' ? `${stub.url}/v1` : stub.url,
    model: 'model-1',
    window: 200_000,
    headers: {},
    initialFiles: [],
  }
  const harness = (own: ApiSettings) =>
    apiHarness({ name: 'api', settings: own, store, retryDelays: [1, 1, 1] })
  return {
    stub,
    store,
    settings,
    harness: harness(settings),
    with: (others) => harness({ ...settings, ...others }),
    open: {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        API_WORLD: folder,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_SYSTEM: '/dev/null',
      },
      permissions: 'all',
      allow: [],
    },
    script: (...turns) => stub.script(...turns.flatMap((acts) => repliesTo(acts, mark))),
    seen: () => stub.requests.map(({ text }) => text).join('\n'),
    spent: () => stub.spent,
    missing: { harness: harness({ ...settings, baseUrl: 'http://127.0.0.1:9' }), env: {} },
  }
}

/** The replies of the model in one turn. Only the last one has no tool use. */
function repliesTo(acts: readonly Act[], mark: string): readonly Reply[] {
  const replies: Reply[] = []
  let next: Reply = {}
  const answer = (reply: Reply) => {
    replies.push({ ...next, ...reply })
    next = {}
  }
  for (const act of acts) {
    if ('say' in act)
      next = { ...next, text: [next.text, act.say].filter((text) => text !== undefined).join('\n') }
    else if ('tokens' in act)
      next = {
        ...next,
        inputTokens: 7,
        cacheWritten: 13,
        outputTokens: 33,
        cacheRead: act.tokens - 53,
      }
    else if ('run' in act) answer({ tools: [{ name: 'shell', input: { command: act.run } }] })
    else if ('write' in act)
      answer({ tools: [{ name: 'write', input: { path: act.write, content: act.text } }] })
    else if ('fail' in act)
      return [
        ...replies,
        { error: { status: 500, type: 'api_error', message: act.fail }, isRepeated: true },
      ]
    else if ('limit' in act) return [...replies, limited(act.limit)]
    else if ('hang' in act) return [...replies, { after: NEVER }]
    else if ('die' in act) return [...replies, { after: NEVER, before: () => killCarriers(mark) }]
  }
  answer({})
  return replies
}

function limited(until: string): Reply {
  return {
    error: {
      status: 429,
      type: 'rate_limit_error',
      message: `This account's usage limit resets at ${until}`,
    },
  }
}

/** The model may reply before the tool program has started. */
function killCarriers(mark: string): void {
  const found = carriersOf(mark)
  for (const pid of found) process.kill(pid, 'SIGKILL')
  if (found.length === 0) setTimeout(() => killCarriers(mark), 10)
}
