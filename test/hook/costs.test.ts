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
import { tryAppend } from '../../src/journal/files.ts'
import { fold } from '../../src/session/fold.ts'
import { effectiveEntries } from '../../src/session/effective-entries.ts'
import { program } from '../support/cli.ts'
import { scratchFolder } from '../support/scratch.ts'
import { Agent, project } from './agent.ts'

const PROMPT = 'Now look at the cookie code'

/** A conversation of one turn, after which everything is settled. */
async function afterOneTurn() {
  const world = project()
  await world.stint('init', '--name', 'there', '--goal', 'Be there')
  const agent = world.agent()
  agent.received((await agent.start()).model)
  agent.answers()
  await agent.prompt('Change the known file')
  await agent.edit('known.ts')
  agent.answers('Changed.')
  await agent.stop('Changed.')
  const lines = () => {
    const path = join(world.notes, `${agent.conversation}.costs`)
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  }
  const events = () => lines().map((line) => line.split(' ')[0])
  const ran = () =>
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
    agent,
    lines,
    events,
    ran,
    followStop: () => runAfterEvent(stop, agent.env, program),
  }
}

describe('what hooks cost', () => {
  test('is noted by each of them and journalled as one entry when the turn ends', async () => {
    const { agent, events, ran } = await afterOneTurn()
    const [first] = ran()
    expect(first).toMatchObject({ conversation: agent.conversation, writes: expect.any(Number) })
    expect(first!.events).toMatchObject({
      SessionStart: { times: 1, ms: expect.any(Number), chars: expect.any(Number), gave: 1 },
      UserPromptSubmit: { times: 1, chars: 0, gave: 0 },
      PostToolUse: { times: 1 },
      Stop: { times: 1 },
    })
    // What was done beside the agent's work is known when it is done, so it comes with the next.
    expect([ran().length, events()]).toEqual([1, ['beside']])
  })

  test('is noted by those that are served quickly and by those that have nothing to do', async () => {
    const { agent, events, ran, stint } = await afterOneTurn()
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
    const { events: second } = ran()[1] as { events: Record<string, unknown> }
    expect(second).toMatchObject({
      PostToolUse: { times: 2, chars: 0 },
      PreCompact: { times: 1, gave: 1 },
      Stop: { times: 1 },
    })
    // Nobody who asks for the work sees any of it.
    expect((await stint('view')).stdout).not.toContain('hooks')
  })

  test('counts once when whoever journals it is killed before the lines are removed', async () => {
    const { agent, notes, followStop, ran, lines, path, sessions } = await afterOneTurn()
    agent.isFollowed = false
    await agent.prompt(PROMPT)
    const [taken] = claimHookCosts(notes, [agent.conversation])
    await followStop()
    const log = path('.sessions', 'journal', sessions()[0]!, 'log.jsonl')
    const before = readFileSync(log)
    expect([ran().length, existsSync(taken!.path)]).toEqual([2, false])
    // The entry was there, and then the process was gone.
    writeFileSync(taken!.path, 'UserPromptSubmit 40 0 2\n')
    await followStop()
    expect([ran().length, existsSync(taken!.path), lines()]).toEqual([
      3,
      false,
      [expect.stringContaining('beside')],
    ])
    expect(readFileSync(log).length).toBeGreaterThan(before.length)
    const prompts = ran().reduce(
      (sum, { events }) =>
        sum + ((events as Record<string, { times: number }>).UserPromptSubmit?.times ?? 0),
      0,
    )
    expect(prompts).toBe(2)
  })

  test('is about no work: a written TL;DR holds, and a handoff is taken up as it was made', async () => {
    const { agent, entries, ran, stint } = await afterOneTurn()
    await stint('log', '--tldr', 'The cookie is set once')
    await stint('handoff', 'create')
    await agent.stop('Handed over.')
    expect(ran()).toHaveLength(2)
    expect(fold('s', entries()).tldr).toMatchObject({ isOutdated: false })
    expect(await stint('handoff', 'accept')).toMatchObject({
      exitCode: 0,
      stdout: expect.not.stringContaining('moved'),
    })
  })

  test('stays where it is as long as it cannot be journalled', async () => {
    const world = project()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    const agent = new Agent(world.cwd, world.path('..', 'transcripts'), world.env, '0'.repeat(40))
    await agent.start()
    // Nothing that names this conversation gets through this pattern in time.
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

  test('of a conversation that ended is journalled with the next one of its session', async () => {
    const { agent, another, notes, ran } = await afterOneTurn()
    await agent.end()
    const next = another()
    await next.start()
    await next.stop('Gone on.')
    expect(ran().filter(({ conversation }) => conversation === agent.conversation)).toHaveLength(2)
    expect(
      readdirSync(notes).filter((name) => name.includes(`${agent.conversation}.costs`)),
    ).toEqual([])
  })

  test('is noted where no session is worked on, if there is a place for it', async () => {
    const { agent: begin, entries, notes, stint } = project()
    const agent = begin()
    await agent.prompt('Hello')
    expect(readFileSync(join(notes, `${agent.conversation}.costs`), 'utf8')).toMatch(
      /^UserPromptSubmit \d+ 0 \d+\n$/,
    )
    rmSync(notes, { recursive: true })
    recordHookCost(notes, agent.conversation, 'Stop', 0)
    expect(existsSync(notes)).toBe(false)
    // One that works on a session later brings it along.
    await agent.prompt('Hello')
    await stint('init', '--name', 'there', '--goal', 'Be there')
    await agent.stop('Hello.')
    expect(entries().filter(({ kind }) => kind === 'hooks.ran')).toMatchObject([
      { data: { events: { UserPromptSubmit: { times: 1 }, Stop: { times: 1 } } } },
    ])
  })

  test('is nothing to anybody where it cannot be noted', async () => {
    const { agent, notes, troubles } = await afterOneTurn()
    const path = join(notes, `${agent.conversation}.costs`)
    rmSync(path)
    mkdirSync(path)
    agent.isFollowed = false
    expect((await agent.prompt(PROMPT)).printed).toBe('')
    expect(troubles()).toBe('')
    const folder = join(scratchFolder(), 'not', 'there')
    recordHookCost(folder, 'c-1', 'Stop', 0)
    expect(existsSync(folder)).toBe(false)
    tryAppend('/dev/full', 'x')
  })

  test('is read past a line that a full disk cut off', () => {
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
