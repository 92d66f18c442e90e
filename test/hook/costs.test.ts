import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { recordHookCost, claimHookCosts } from '../../src/project/conversation/hook-costs.ts'
import { runAfterEvent } from '../../src/hook/after-event.ts'
import { tryAppend } from '../../src/journal/write-files.ts'
import { fold } from '../../src/session/fold.ts'
import { effectiveEntries } from '../../src/session/effective-entries.ts'
import { program } from '../support/cli.ts'
import { scratchFolder } from '../support/scratch.ts'
import { Agent, project, projectAfterOneTurn } from './agent.ts'

const PROMPT = 'Now look at the cookie code'

async function afterOneTurn() {
  const world = await projectAfterOneTurn()
  const { agent } = world
  const lines = () => {
    const path = join(world.notes, `${agent.conversation}.costs`)
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  }
  const events = () => lines().map((line) => line.split(' ')[0])
  const recordedCosts = () =>
    effectiveEntries(world.entries()).flatMap(({ kind, data }) =>
      kind === 'hooks.ran' ? [data] : [],
    )
  const stop = JSON.stringify({
    session_id: agent.conversation,
    transcript_path: agent.transcript,
    cwd: world.cwd,
    hook_event_name: 'Stop',
  })
  return {
    ...world,
    lines,
    events,
    recordedCosts,
    followStop: () => runAfterEvent(stop, agent.env, program),
  }
}

describe('the cost of hooks', () => {
  test('is recorded by each hook and journalled as one entry when the turn ends', async () => {
    const { agent, events, recordedCosts } = await afterOneTurn()
    const [first] = recordedCosts()
    expect(first).toMatchObject({ conversation: agent.conversation, writes: expect.any(Number) })
    expect(first!.events).toMatchObject({
      SessionStart: { times: 1, ms: expect.any(Number), chars: expect.any(Number), gave: 1 },
      UserPromptSubmit: { times: 1, chars: 0, gave: 0 },
      PostToolUse: { times: 1 },
      Stop: { times: 1 },
    })
    // The background hook's own cost is known only at its end, so it comes with the next turn.
    expect([recordedCosts().length, events()]).toEqual([1, ['beside']])
  })

  test('is recorded on the fast path, and by hooks that have nothing to do', async () => {
    const { agent, events, recordedCosts, stint } = await afterOneTurn()
    agent.isFollowed = false
    await agent.prompt(PROMPT)
    await agent.edit('known.ts')
    await agent.run('ls -la')
    await agent.send('PreCompact', { trigger: 'auto' })
    expect(events()).toEqual([
      'beside',
      'UserPromptSubmit',
      'PostToolUse',
      'PostToolUse',
      'PreCompact',
    ])
    agent.isFollowed = true
    await agent.stop('Looked.')
    const { events: second } = recordedCosts()[1] as { events: Record<string, unknown> }
    expect(second).toMatchObject({
      PostToolUse: { times: 2, chars: 0 },
      PreCompact: { times: 1, gave: 1 },
      Stop: { times: 1 },
    })
    // Work entries do not include it.
    expect((await stint('view')).stdout).not.toContain('hooks')
  })

  test('counts once when the process is killed between journalling it and removing the lines', async () => {
    const { agent, notes, followStop, recordedCosts, lines, path, sessions } = await afterOneTurn()
    agent.isFollowed = false
    await agent.prompt(PROMPT)
    const [taken] = claimHookCosts(notes, [agent.conversation])
    await followStop()
    const log = path('.sessions', 'journal', sessions()[0]!, 'log.jsonl')
    const before = readFileSync(log)
    expect([recordedCosts().length, existsSync(taken!.path)]).toEqual([2, false])
    // The entry was written, then the process was killed.
    writeFileSync(taken!.path, 'UserPromptSubmit 40 0 2\n')
    await followStop()
    expect([recordedCosts().length, existsSync(taken!.path), lines()]).toEqual([
      3,
      false,
      [expect.stringContaining('beside')],
    ])
    expect(readFileSync(log).length).toBeGreaterThan(before.length)
    const prompts = recordedCosts().reduce(
      (sum, { events }) =>
        sum + ((events as Record<string, { times: number }>).UserPromptSubmit?.times ?? 0),
      0,
    )
    expect(prompts).toBe(2)
  })

  test('does not outdate a written TL;DR or a handoff', async () => {
    const { agent, entries, recordedCosts, stint } = await afterOneTurn()
    await stint('log', '--tldr', 'The cookie is set once')
    await stint('handoff', 'create')
    await agent.stop('Handed over.')
    expect(recordedCosts()).toHaveLength(2)
    expect(fold('s', entries()).tldr).toMatchObject({ isOutdated: false })
    expect(await stint('handoff', 'accept')).toMatchObject({
      exitCode: 0,
      stdout: expect.not.stringContaining('moved'),
    })
  })

  test('stays in its file until it can be journalled', async () => {
    const world = project()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    const agent = new Agent(world.cwd, world.path('..', 'transcripts'), world.env, '0'.repeat(40))
    await agent.start()
    // The pattern times out on anything that contains this conversation id.
    writeFileSync(world.path('.sessions', 'config.yaml'), "redact:\n  patterns: ['(0+)+x']\n")
    recordHookCost(world.notes, agent.conversation, 'Stop', 0)
    await agent.stop('Done.')
    expect(world.ofKind('hooks.ran')).toEqual([])
    rmSync(world.path('.sessions', 'config.yaml'))
    await agent.stop('Done.')
    const events = world.ofKind('hooks.ran').map((data) => (data as { events: object }).events)
    expect(events).toContainEqual(
      expect.objectContaining({ SessionStart: expect.anything(), Stop: expect.anything() }),
    )
  })

  test('of an ended conversation is journalled by the next conversation of its session', async () => {
    const { agent, another, notes, recordedCosts } = await afterOneTurn()
    await agent.end()
    const next = another()
    await next.start()
    await next.stop('Gone on.')
    expect(
      recordedCosts().filter(({ conversation }) => conversation === agent.conversation),
    ).toHaveLength(2)
    expect(
      readdirSync(notes).filter((name) => name.includes(`${agent.conversation}.costs`)),
    ).toEqual([])
  })

  test('is recorded without a session, if there is a folder for it', async () => {
    const { agent: begin, entries, notes, stint } = project()
    const agent = begin()
    await agent.prompt('Hello')
    expect(readFileSync(join(notes, `${agent.conversation}.costs`), 'utf8')).toMatch(
      /^UserPromptSubmit \d+ 0 \d+\n$/,
    )
    rmSync(notes, { recursive: true })
    recordHookCost(notes, agent.conversation, 'Stop', 0)
    expect(existsSync(notes)).toBe(false)
    // A later session of the conversation takes them over.
    await agent.prompt('Hello')
    await stint('init', '--name', 'there', '--goal', 'Be there')
    await agent.stop('Hello.')
    expect(entries().filter(({ kind }) => kind === 'hooks.ran')).toMatchObject([
      { data: { events: { UserPromptSubmit: { times: 1 }, Stop: { times: 1 } } } },
    ])
  })

  test('disturbs nothing when it cannot be recorded', async () => {
    const { agent, notes, hookErrors } = await afterOneTurn()
    const path = join(notes, `${agent.conversation}.costs`)
    rmSync(path)
    mkdirSync(path)
    agent.isFollowed = false
    expect((await agent.prompt(PROMPT)).printed).toBe('')
    expect(hookErrors()).toBe('')
    const folder = join(scratchFolder(), 'not', 'there')
    recordHookCost(folder, 'c-1', 'Stop', 0)
    expect(existsSync(folder)).toBe(false)
    tryAppend('/dev/full', 'x')
  })

  test('is read past a line that a full disk truncated', () => {
    const folder = scratchFolder()
    recordHookCost(folder, 'c-1', 'Stop', 12)
    appendFileSync(join(folder, 'c-1.costs'), 'UserPro')
    recordHookCost(folder, 'c-1', 'Stop', 0)
    recordHookCost(folder, 'c-1', 'Stop', 0)
    renameSync(join(folder, 'c-1.costs'), join(folder, 'c-1.costs.0123456789ab'))
    expect(claimHookCosts(folder, ['c-1', 'c-2']).map(({ costs }) => costs.events)).toMatchObject([
      { Stop: { times: 2, chars: 12, gave: 1 } },
    ])
  })
})
