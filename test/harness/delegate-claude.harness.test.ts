import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import { isRunning } from '../support/processes.ts'
import { textsIn } from './claude-agent.ts'
import { DelegatesWorld } from './delegates-world.ts'
import type { MessagesBody, SeenRequest } from './model-stub.ts'
import { ScriptedAgent, type Step, type Way, reporting, taskIn } from './scripted-agent.ts'
import type { MergeOutcome } from '../../src/run/entries.ts'

/** Claude Code does not let its model sleep. */
const WAIT = 'tail -f /dev/null'
const ALLOWED = 'run:\n  allow: [tail]\n'
const PATIENTLY = { interval: 50 }

test('a delegate outlives the command that started it, and changes nothing but its own worktree', async () => {
  const { opened: after, open: resume } = gate()
  const steps: Way = (_, task) => [
    { run: 'stint log --decision "Where dates are kept" --choice "as text"', after },
    ...editing(task),
    reporting(task),
  ]
  const world = await DelegatesWorld.create(new ScriptedAgent({ 'write-the-parser': steps }))
  const { claude } = world
  // The user keeps working in the main checkout.
  writeFileSync(claude.path('readme.txt'), 'half a sentence\n')
  writeFileSync(claude.path('notes.txt'), 'mine\n')
  const before = world.checkout()
  const row = await world.delegate('Write the parser')
  expect(row).toMatchObject({
    name: 'write-the-parser',
    status: 'running',
    target: 'main',
    branch: 'stint/parser/write-the-parser',
  })
  expect(isRunning(world.processOf(row))).toBe(true)
  resume()

  const ready = await world.waited(row.name, 'ready')
  expect(ready).toMatchObject({
    summary: 'write-the-parser is written',
    commits: 1,
    attempts: [{ outcome: 'done' }],
  })
  expect(world.subjects(row.branch)).toEqual(['do write-the-parser'])
  expect(readFileSync(join(row.tree, 'write-the-parser.txt'), 'utf8')).toBe('right\n')
  expect(world.checkout()).toEqual(before)
  expect(claude.git('symbolic-ref', '--short', 'HEAD')).toBe('main\n')
  expect(existsSync(claude.path('write-the-parser.txt'))).toBe(false)

  // Its decisions are in its own journal until it is merged, and the parent knows its status.
  const [{ id: own } = { id: '' }] = ready.sessions
  expect(world.entriesOf(own, 'decision.made')).toMatchObject([
    { title: 'Where dates are kept', choice: 'as text' },
  ])
  expect(world.entriesOf(own, 'task.reported')).toHaveLength(1)
  expect(world.entriesOf(row.parent!, 'decision.made')).toEqual([])
  expect(world.entriesOf(row.parent!, 'delegate.begun')).toMatchObject([{ name: row.name }])
  expect(world.entriesOf(row.parent!, 'delegate.reported')).toMatchObject([
    { name: row.name, status: 'ready', files: ['write-the-parser.txt'] },
  ])
  await world.expectNothingLeft(row)
})

test('a conflicting delegate is returned for rework with the conflict, and lands with both changes', async () => {
  const { opened: resumed, open: resume } = gate()
  const steps = (own: string): Way => {
    return (_, task, prompt) => {
      const sha = conflictIn(prompt)
      if (sha === undefined) {
        return [
          { run: `stint log --decision "Where dates are kept" --choice "${own}"` },
          { read: 'plan.txt' },
          { write: 'plan.txt', text: `${task}\n` },
          { write: `${task}.txt`, text: 'right\n' },
          { run: 'sh check.sh' },
          { run: `git add plan.txt ${task}.txt && git commit --quiet --message "do ${task}"` },
          reporting(task),
        ]
      }
      return [
        { run: `git merge ${sha}`, after: resumed },
        { read: 'plan.txt' },
        { write: 'plan.txt', text: 'north\nsouth\n' },
        { run: 'sh check.sh' },
        { run: 'git add plan.txt' },
        { run: 'git commit --quiet --no-edit' },
        reporting(task),
      ]
    }
  }
  const agent = new ScriptedAgent({ north: steps('as text'), south: steps('as numbers') })
  const world = await DelegatesWorld.create(agent)
  const { claude } = world
  // Passes with the work of either, and of both.
  const check =
    'for name in north south; do test ! -e $name.txt || grep --quiet "^$name$" plan.txt || exit 1; done\n'
  world.commit('plan', {
    'check.sh': `! grep --quiet "<<<" plan.txt || exit 1\n${check}`,
    'plan.txt': 'nothing yet\n',
  })
  const tasks = world.tasks(['north', 'south'])
  const how = ['--permissions', 'edits', '--verify', 'sh check.sh']
  const north = await world.answer<DelegateRow>(
    'delegate',
    '--task',
    'north',
    '--harness',
    'claude',
    ...how,
  )
  const south = await world.answer<DelegateRow>(
    'delegate',
    '--task',
    'south',
    '--harness',
    'claude',
    ...how,
  )
  await world.waited('north', 'ready')
  await world.waited('south', 'ready')
  expect(world.closings()).toEqual({})

  const merging = world.command('merge', '--all', '--wait', '--json')
  await expect.poll(() => world.steps(south, 'run.resumed').length, PATIENTLY).toBe(2)
  const onto = claude.git('rev-parse', 'main').trim()
  expect(world.steps(north, 'delegate.moved').at(-1)).toMatchObject({ to: 'merged', commit: onto })
  expect(world.steps(south, 'delegate.moved').at(-1)).toMatchObject({
    to: 'conflicted',
    onto,
    files: ['plan.txt'],
  })
  expect(world.closings()).toEqual({ [tasks[0]!]: 1 })
  resume()
  const merged = await merging
  expect(merged.code, merged.errors).toBe(0)
  expect(merged.errors).toMatch(
    /south .*conflicts with main in plan.txt; it was sent back to be mended/,
  )
  const { outcomes } = JSON.parse(merged.out) as { outcomes: readonly MergeOutcome[] }
  expect(outcomes).toMatchObject([
    { name: 'north', how: 'merged', commit: onto },
    { name: 'south', how: 'merged' },
  ])

  // The requests of Claude Code to its model, the first one and the one after git reported the
  // conflict.
  const conflictTurns = claude.stub.turns.filter(({ body }) =>
    promptIn(body).includes(`\`git merge ${onto.slice(0, 12)}\``),
  )
  expect(conflictTurns[0]!.body.messages.map(({ role }) => role)).not.toContain('assistant')
  expect(promptIn(conflictTurns[0]!.body)).toContain('finished this task on this branch')
  expect(promptIn(conflictTurns[0]!.body)).toContain(
    'it conflicts with main in plan.txt\n- In conflict: `plan.txt`\n',
  )
  expect(promptIn(conflictTurns[0]!.body)).toContain(
    `\`main\`, which is at ${onto.slice(0, 12)} now.`,
  )
  expect(conflictTurns.at(-1)!.text).toContain('CONFLICT (content): Merge conflict in plan.txt')
  expect(
    claude.stub.turns.filter(({ text }) => text.includes('This is not permitted here')),
  ).toEqual([])

  // The work of both is verified on the target, and each task is closed once with the commit that
  // brought it there.
  const tip = claude.git('rev-parse', 'main').trim()
  expect(outcomes[1]!.commit).toBe(tip)
  expect(claude.git('rev-list', '--parents', '--max-count=1', 'main')).toContain(onto)
  expect(readFileSync(claude.path('plan.txt'), 'utf8')).toBe('north\nsouth\n')
  expect(claude.git('ls-tree', '--name-only', 'main')).toContain(
    'north.txt\nplan.txt\nreadme.txt\nsouth.txt\n',
  )
  execFileSync('sh', ['check.sh'], { cwd: claude.project })
  expect(claude.git('status', '--porcelain', '--', ':!.tasks')).toBe('')
  const closed = world
    .entriesOf(north.parent!, 'task.moved')
    .filter(({ status }) => status === 'completed')
  expect(closed).toMatchObject([
    { task: tasks[0], git: { branch: 'main', commit: onto } },
    { task: tasks[1], git: { branch: 'main', commit: tip } },
  ])
  expect(world.closings()).toEqual({ [tasks[0]!]: 1, [tasks[1]!]: 1 })

  // Both decisions are in the parent's journal, and so is the contradiction between them.
  expect(world.entriesOf(north.parent!, 'decision.made')).toMatchObject([
    { title: 'Where dates are kept', choice: 'as text', whose: 'north' },
    { title: 'Where dates are kept', choice: 'as numbers', whose: 'south' },
  ])
  expect(outcomes[1]!.contradictions).toEqual([
    expect.stringMatching(/^south chose "as numbers" .*, but north chose "as text" /),
  ])
  for (const row of [north, south]) {
    expect(existsSync(row.tree)).toBe(false)
    expect(claude.git('branch', '--list', row.branch)).toBe('')
    await world.expectNothingLeft(row)
  }
  expect(world.diagnosed()).toEqual([])
})

test('no process outlives `stint delegate stop`, and uncommitted work is on the branch', async () => {
  const steps: Way = (_, task) => [{ write: `${task}.txt`, text: 'half\n' }, { run: WAIT }]
  const world = await DelegatesWorld.create(new ScriptedAgent({ 'write-the-parser': steps }), {
    config: ALLOWED,
  })
  const row = await world.delegate('Write the parser')
  await world.whenDelegateRuns(row, WAIT)
  const [stopped] = await world.answer<readonly DelegateRow[]>('delegate', 'stop', row.name)
  expect(stopped).toMatchObject({ status: 'failed', because: 'stopped', commits: 1 })
  expect(isRunning(world.processOf(row))).toBe(false)
  await world.expectNothingLeft(row)
  expect(world.git('show', `${row.branch}:write-the-parser.txt`)).toBe('half\n')
  expect(world.git('-C', row.tree, 'status', '--porcelain')).toBe('')
})

test('a delegate killed during a command is found, started again, and lands', async () => {
  const steps: Way = (occasion, task) =>
    occasion === 'task'
      ? [...editing('first'), { write: `${task}.txt`, text: 'half\n' }, { run: WAIT }]
      : [{ read: `${task}.txt` }, ...editing(task), reporting(task)]
  const world = await DelegatesWorld.create(new ScriptedAgent({ 'write-the-parser': steps }), {
    config: ALLOWED,
  })
  const row = await world.delegate('Write the parser')
  await world.whenDelegateRuns(row, WAIT)
  process.kill(world.processOf(row), 'SIGKILL')
  await world.expectNothingLeft(row)

  // Listing only reads.
  const [orphaned] = await world.answer<readonly DelegateRow[]>('delegates')
  expect(orphaned).toMatchObject({ status: 'running', isOrphaned: true })
  await world.command('doctor', '--repair')
  const [found] = await world.answer<readonly DelegateRow[]>('delegates')
  expect(found).toMatchObject({
    status: 'failed',
    because: 'its process ended in the middle of it',
    commits: 2,
  })
  expect(world.git('show', `${row.branch}:write-the-parser.txt`)).toBe('half\n')
  await world.answer('delegate', 'retry', row.name)
  await world.waited(row.name, 'ready')
  const { outcomes } = await world.answer<{ outcomes: readonly MergeOutcome[] }>('merge', row.name)
  expect(outcomes).toMatchObject([{ how: 'merged', commit: world.git('rev-parse', 'main').trim() }])
  expect(readFileSync(world.claude.path('first.txt'), 'utf8')).toBe('right\n')
  expect(readFileSync(world.claude.path('write-the-parser.txt'), 'utf8')).toBe('right\n')
  await world.expectNothingLeft(row)
})

test('a delegate killed while it resolves a conflict gets the conflict again, and lands', async () => {
  let isKilled = false
  const steps: Way = (_, task, prompt) => {
    const sha = conflictIn(prompt)
    if (sha === undefined) return [...editing(task, 'ours\n'), reporting(task)]
    const merging = [
      { run: `git merge ${sha}` },
      { read: `${task}.txt` },
      { write: `${task}.txt`, text: 'both\n' },
    ]
    if (!isKilled) return [...merging, { run: WAIT }]
    return [
      ...merging,
      { run: `git add ${task}.txt` },
      { run: 'git commit --quiet --no-edit' },
      reporting(task),
    ]
  }
  const world = await DelegatesWorld.create(new ScriptedAgent({ 'write-the-parser': steps }), {
    config: ALLOWED,
  })
  const row = await world.delegate('Write the parser')
  await world.waited(row.name, 'ready')
  world.commit('theirs', { 'write-the-parser.txt': 'theirs\n' })
  const sent = await world.command('merge', row.name, '--json')
  expect(JSON.parse(sent.out)).toMatchObject({
    outcomes: [{ how: 'conflicted', isSentBack: true }],
  })
  await world.whenDelegateRuns(row, WAIT)
  // And the guardian that would have ended its processes.
  for (const pid of [world.guardianOf(row), world.processOf(row)]) process.kill(pid, 'SIGKILL')
  isKilled = true

  // Listing only reads.
  const [orphaned] = await world.answer<readonly DelegateRow[]>('delegates')
  expect(orphaned).toMatchObject({ status: 'running', isOrphaned: true })
  await world.command('doctor', '--repair')
  const [found] = await world.answer<readonly DelegateRow[]>('delegates')
  expect(found).toMatchObject({
    status: 'failed',
    because: 'its process ended in the middle of it',
    commits: 1,
  })
  await world.expectNothingLeft(row)
  // An unfinished merge cannot be committed to the branch.
  expect(world.git('show', `${found!.kept}:write-the-parser.txt`)).toBe('both\n')
  await world.answer('delegate', 'retry', row.name)
  await world.waited(row.name, 'ready')
  await world.answer('merge', row.name)
  expect(world.git('show', 'main:write-the-parser.txt')).toBe('both\n')
  await world.expectNothingLeft(row)
})

test('a reviewing delegate returns its report and nothing else', async () => {
  const steps: Way = (_, task) => [
    { write: 'REPORT.md', text: '# Findings\n\nOne race.\n' },
    reporting(task),
  ]
  const world = await DelegatesWorld.create(new ScriptedAgent({ review: steps }))
  const main = world.git('rev-parse', 'main')
  const row = await world.delegate('Look for races', '--as', 'review')
  expect(row).toMatchObject({ name: 'review', isReadOnly: true })
  const ready = await world.waited(row.name, 'ready')
  expect(ready.reportText).toBe('# Findings\n\nOne race.\n')
  expect(world.entriesOf(row.parent!, 'delegate.reported')).toMatchObject([
    { status: 'ready', report: ready.report },
  ])
  expect(existsSync(row.tree)).toBe(false)
  expect(world.git('branch', '--list', row.branch)).toBe('')
  expect(await world.answer('merge', '--all')).toEqual({ outcomes: [] })
  expect(world.git('rev-parse', 'main')).toBe(main)
  await world.expectNothingLeft(row)
})

test('a delegate outlives the agent that started it, and its result is injected at a prompt once', async () => {
  const order = { run: 'stint delegate "Write the parser" --harness claude' }
  const { opened: after, open: resume } = gate()
  const steps: Way = (_, task) => [{ run: 'git status', after }, ...editing(task), reporting(task)]
  const world = await DelegatesWorld.create(
    new ScriptedAgent({ 'write-the-parser': steps }, [order]),
    { setup: true },
  )
  const { claude } = world
  const killed = claude.talk()
  const { session_id: conversation } = await killed.say('Have the parser written by somebody')
  await killed.kill()
  const [row] = await world.answer<readonly DelegateRow[]>('delegates')
  expect(row).toMatchObject({
    name: 'write-the-parser',
    status: 'running',
    parent: claude.sessions[0],
  })
  const talk = claude.talk('--resume', conversation)
  const isDelegates = ({ body }: SeenRequest) => promptIn(body) !== ''
  const newsIn = ({ text }: SeenRequest) => text.split('News of delegates:').slice(1)
  const lastNews = () => newsIn(claude.stub.turns.findLast((turn) => !isDelegates(turn))!)
  await talk.say('What is left besides?')
  expect(lastNews()).toEqual([])
  resume()
  await world.waited(row!.name, 'ready')

  const news =
    'write-the-parser is ready (stint merge write-the-parser, stint delegate show write-the-parser)'
  await talk.say('Is there a test for it?')
  expect(lastNews()).toEqual([expect.stringContaining(news)])
  await talk.say('And for the rest?')
  // It is in the earlier messages, and is not sent again.
  expect(lastNews()).toHaveLength(1)
  await talk.end()
  expect(claude.stub.turns.filter(isDelegates).flatMap(newsIn)).toEqual([])
  expect(claude.troubles).toBe('')
  await world.expectNothingLeft(row!)
})

/** The commit that an agent is asked to merge. */
function conflictIn(prompt: string): string | undefined {
  return /`git merge ([0-9a-f]{12})`/.exec(prompt)?.[1]
}

/** The prompt of a turn, as Claude Code got it. */
function promptIn({ messages }: MessagesBody): string {
  const texts = messages.flatMap(({ role, content }) => (role === 'user' ? textsIn(content) : []))
  return texts.findLast((text) => taskIn(text) !== undefined) ?? ''
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** Works like an agent that may edit files and use git, and nothing else. */
function editing(name: string, text = 'right\n'): readonly Step[] {
  return [
    { write: `${name}.txt`, text },
    { run: `git add ${name}.txt` },
    { run: `git commit --quiet --message "do ${name}"` },
  ]
}
