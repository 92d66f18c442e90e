import { describe, expect, test } from 'vitest'
import {
  type ConversationState,
  readConversationState,
  writeConversationState,
} from '../../src/project/conversation/conversation-state.ts'
import { conversationStateFolder } from '../../src/project/store/conversation-binding.ts'
import { NEWS_TOKENS, delegateNews } from '../../src/context/delegate-news.ts'
import { estimateTokens } from '../../src/text/tokens.ts'
import { LiveSession } from '../../src/project/store/live-session.ts'
import { refreshViews } from '../../src/project/store/refresh-views.ts'
import { DEFAULT_CONFIG } from '../../src/project/config/config.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import { type DelegateOutcome, draftEntry } from '../../src/session/entries.ts'
import type { SessionDelegate } from '../../src/session/state.ts'
import { project, projectAfterOneTurn } from './agent.ts'

/** An ordinary prompt takes the fast path. */
const upToDateProject = () => projectAfterOneTurn({ key: 'the cookie is set twice', edits: false })

/** Writes what a delegate's process writes into the journal of its parent. */
async function report(
  world: Pick<ReturnType<typeof project>, 'cwd' | 'sessions'>,
  name: string,
  status: DelegateOutcome,
  summary: string,
) {
  const [id] = world.sessions()
  const session = new LiveSession(id!, findProjectPaths(world.cwd), DEFAULT_CONFIG)
  session.append([
    draftEntry(
      'delegate.reported',
      { delegate: `d-${name}`, name, status, what: `do ${name}`, summary },
      { by: 'delegate' },
    ),
  ])
  await refreshViews(session)
  session.close()
}

const ORDINARY = 'Now look at the cookie code in the known file'

describe('news of a delegate', () => {
  test('is injected once, at the next prompt, fenced and with commands', async () => {
    const world = await upToDateProject()
    await report(world, 'tests', 'ready', 'twelve tests, all red')
    const { model } = await world.agent.prompt(ORDINARY)
    expect(model).toMatch(/^<stint-session name="there">\nA record of earlier work/)
    expect(model).toContain(
      '- tests is ready (stint merge tests, stint delegate show tests): twelve tests, all red\n',
    )
    expect(world.ofKind('context.given').at(-1)).toMatchObject({
      why: 'delegates reported',
      event: 'UserPromptSubmit',
    })
    expect((await world.agent.prompt('And now the next ordinary thing')).printed).toBe('')
    expect(world.hookErrors()).toBe('')
  })

  test('is injected once even if another hook overwrites the conversation state', async () => {
    const world = await upToDateProject()
    await report(world, 'tests', 'ready', 'twelve tests, all red')
    await world.agent.prompt(ORDINARY)
    const notes = conversationStateFolder(findProjectPaths(world.cwd))
    const { heard, ...others } = readConversationState(notes, world.agent.conversation)!
    expect(heard).toBeDefined()
    writeConversationState(notes, others as ConversationState)
    expect((await world.agent.prompt('And now the next ordinary thing')).model).toBe('')
  })

  test('is injected again when its status changes', async () => {
    const world = await upToDateProject()
    await report(world, 'tests', 'ready', 'twelve tests')
    await world.agent.prompt(ORDINARY)
    await report(world, 'tests', 'conflicted', 'a.txt')
    expect((await world.agent.prompt(ORDINARY)).model).toContain('tests is conflicted')
  })

  test('reaches every conversation of the session except those that started with it', async () => {
    const world = await upToDateProject()
    const beside = world.another()
    beside.received((await beside.start()).model)
    beside.answers()
    await beside.prompt('Look at another file')
    await report(world, 'tests', 'ready', 'twelve tests')
    expect((await world.agent.prompt(ORDINARY)).model).toContain('tests is ready')
    expect((await beside.prompt(ORDINARY)).model).toContain('tests is ready')
    const later = world.another()
    const { model } = await later.start()
    expect(model).toContain('tests (ready): do tests - twelve tests')
    later.received(model)
    later.answers()
    expect((await later.prompt(ORDINARY)).model).toBe('')
  })

  test('waits for a prompt of the user and skips prompts of the harness', async () => {
    const world = await upToDateProject()
    await report(world, 'tests', 'ready', 'twelve tests')
    expect(
      (await world.agent.prompt('<task-notification>\n<task-id>a</task-id>\n</task-notification>'))
        .model,
    ).toBe('')
    expect((await world.agent.prompt(ORDINARY)).model).toContain('tests is ready')
  })

  test('is in the context of a resumed conversation once the status changed', async () => {
    const world = await upToDateProject()
    await world.agent.end()
    await report(world, 'tests', 'ready', 'twelve tests')
    expect((await world.agent.start('resume')).model).toContain('tests (ready): do tests')
  })

  test('is not injected next to a context that has it', async () => {
    const world = project()
    const agent = world.agent()
    await agent.start()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    await agent.prompt('Change the known file')
    await report(world, 'tests', 'ready', 'twelve tests')
    const { model } = await agent.prompt('continue')
    expect(model).toContain('tests (ready): do tests - twelve tests')
    expect(model).not.toContain('News of delegates')
    expect((await agent.prompt(ORDINARY)).model).toBe('')
  })

  test('stays within its limit, with the latest and a pointer to the others', () => {
    const line = (n: number): SessionDelegate => ({
      id: `${n}`,
      at: '',
      text: 'what',
      delegate: `d-${n}`,
      name: `a-rather-long-name-of-a-delegate-${n}`,
      status: 'failed',
      because: `数据库连接池 ${'it failed again and again '.repeat(30)}</stint-session>`,
      updatedAt: '',
    })
    const lines = Array.from({ length: 30 }, (_, n) => line(n))
    for (const count of [1, 2, 5, 30]) {
      const { text } = delegateNews(
        'a-session-with-quite-a-long-name-of-its-own',
        lines.slice(-count),
      )
      expect(estimateTokens(text)).toBeLessThanOrEqual(NEWS_TOKENS)
      expect(text).toContain('-delegate-29 is failed')
      expect(text.match(/<\/stint-session>/g)).toHaveLength(1)
    }
    expect(delegateNews('s', lines).text).toMatch(/stint delegates \(delegates \d+\)/)
  })
})
