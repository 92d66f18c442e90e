import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunEvent } from '../../src/run/entries.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { RunWorld } from './run-world.ts'
import {
  type Occasion,
  ScriptedAgent,
  type Step,
  type Way,
  reporting,
  working,
} from './scripted-agent.ts'

/** Above Claude Code's compaction point, and above the smart zone. */
const TOO_FULL = 172_000
const LONG = 105_000
/** Above the last stage, and below the compaction point. */
const NEARLY_FULL = 155_000
/** Claude Code does not let its model sleep. */
const WAIT = 'tail -f /dev/null'

/** Something special the first time, and like any other task afterwards. */
const atFirst =
  (steps: (task: string) => readonly Step[]): Way =>
  (occasion, task) =>
    occasion === 'task' ? steps(task) : undefined

/** What goes wrong, by task. */
const AGENT = new ScriptedAgent({
  failing: atFirst((task) => [...working(task, 'wrong'), reporting(task)]),
  lying: atFirst((task) => [reporting(task)]),
  compacted: atFirst((task) => [
    { run: 'git status', tokens: TOO_FULL },
    ...working(task),
    reporting(task),
  ]),
  hanging: atFirst(() => [{ hang: true }]),
  killed: atFirst(() => [{ run: WAIT }]),
  long: atFirst((task) => [
    ...working(task),
    reporting(task),
    { say: 'That was long.', tokens: LONG },
  ]),
  'runner-killed': atFirst((task) => [...working(task), { run: WAIT }]),
})

const NAMES = [
  'first',
  'failing',
  'lying',
  'fourth',
  'compacted',
  'hanging',
  'killed',
  'long',
  'runner-killed',
  'tenth',
  'eleventh',
  'twelfth',
]

// At the last of three stages a run rotates to a new conversation by itself. Without that stage
// Claude Code compacts.
const CONFIG = `budget:
  stages: [75%, 85%]
run:
  silence_minutes: 1
  allow: [tail]
`

const CHECK = { 'check.sh': '! grep --files-with-matches wrong *.txt\n' }

test('twelve tasks are done once each despite a failure, a lie, a hang, a compaction and killed processes', async () => {
  const world = await RunWorld.create(AGENT, { setup: true, config: CONFIG })
  const { claude } = world
  world.commit('rules', { ...CHECK, 'AGENTS.md': 'Indent with tabs.\n' })
  const tasks = world.tasks(NAMES)
  // The user keeps working in the main checkout.
  writeFileSync(claude.path('readme.txt'), 'half a sentence\n')
  writeFileSync(claude.path('notes.txt'), 'mine\n')
  const checkout = () => [
    claude.git('rev-parse', '--symbolic-full-name', '--verify', 'HEAD'),
    claude.git('rev-parse', 'HEAD'),
    claude.git('status', '--porcelain', '--', ':!.tasks'),
    claude.git('diff'),
  ]
  const before = checkout()

  let task: string | undefined
  const code = await world.run(['--branch', 'work', '--verify', 'sh check.sh'], (event, runner) => {
    if (event.kind === 'attempt.started') task = event.data.task.name
    if (!isWaiting(event)) return
    const isKilled = task === 'killed'
    // In the middle of a command, which must not survive.
    void world.whenRuns(WAIT).then(() => {
      if (!isKilled) runner.kill('SIGKILL')
      else for (const pid of world.agents()) process.kill(pid, 'SIGKILL')
    })
  })
  expect(code, world.errors).toBeNull()
  expect(task).toBe('runner-killed')
  await expectNothingLeft(world)
  expect(await world.run(['--resume']), world.errors).toBe(0)
  world.expectEnded('finished')
  await expectNothingLeft(world)

  // All of that happened.
  expect(world.failed().map((event) => [event.task.name, event.reason, event.next])).toEqual([
    ['failing', 'sh check.sh ended with 1', 'same conversation again'],
    ['lying', 'nothing was committed', 'same conversation again'],
    ['hanging', 'no word for 1 min', 'fresh conversation'],
  ])
  expect(world.of('breaker.tripped').map(({ which }) => which)).toEqual(['silence'])
  expect(world.of('context.compacted')).toMatchObject([{ task: { name: 'compacted' } }])
  expect(claude.stub.summaries).toHaveLength(1)
  expect(world.logged('turn.ended').filter(({ how }) => how === 'died')).toHaveLength(1)
  expect(
    world.logged('attempt.ended').filter(({ outcome }) => outcome === 'interrupted'),
  ).toHaveLength(1)

  // Each task is done once, and proved.
  const closed = world.journalled('task.moved').filter(({ status }) => status === 'completed')
  expect(closed.map((moved) => moved['task'])).toEqual(tasks)
  const proved = world.of('verify.ended').filter(({ passed }) => passed)
  expect(proved.map((event) => event.task.name)).toEqual(NAMES)
  const done = NAMES.flatMap((name) =>
    name === 'failing' ? [`do ${name}`, `do ${name}`] : [`do ${name}`],
  )
  expect(world.subjects('work')).toEqual(done)
  for (const name of NAMES) expect(claude.git('show', `work:${name}.txt`)).toBe('right\n')
  expect(existsSync(world.of('run.planned')[0]!.worktree!)).toBe(false)
  expect(checkout()).toEqual(before)

  // The journals have all of it, written only by the run and its agent.
  const commits = claude.git('rev-list', '--reverse', 'main..work').trim().split('\n')
  expect(world.journalled('commit.made').map(({ commit }) => commit)).toEqual(commits)
  expect(world.journalled('context.compacted')).toEqual([
    expect.objectContaining({ trigger: 'auto' }),
  ])
  expect(world.journalled('task.reported')).toHaveLength(NAMES.length + 2)
  expect(claude.sessions).toHaveLength(2)
  const conversations = (kind: string) =>
    world.journalled(kind).map(({ conversation }) => conversation)
  // The killed conversation was resumed; every other one that broke off was followed by a new one.
  expect(new Set(conversations('conversation.joined'))).toEqual(transcripts(world))
  expect(transcripts(world).size).toBe(4)
  expect(conversations('conversation.ended')).toEqual(conversations('conversation.joined'))
  const handoffs = world.journalled('handoff.made').map(({ hash }) => hash)
  expect(handoffs).toHaveLength(3)
  expect(world.journalled('handoff.accepted').map(({ hash }) => hash)).toEqual(handoffs)
  expect(
    new Set(claude.sessions.flatMap((session) => claude.entries(session).map(({ by }) => by))),
  ).toEqual(new Set(['run', 'cli']))
  expect(claude.troubles).toBe('')
  claude.stint('doctor')
}, 300_000)

test('under `edits` an agent edits, commits, verifies and reports, and everything else is refused', async () => {
  const outside = () => join(world.claude.root, 'outside.txt')
  const inside = () => join(world.of('run.planned')[0]!.worktree!, 'one.txt')
  const kept = () => join(dirname(inside()), '.sessions', 'new', 'config.yaml')
  const steps = (occasion: Occasion): readonly Step[] | undefined =>
    occasion === 'task'
      ? [
          { write: inside(), text: 'right\n' },
          { write: outside(), text: 'wrong\n' },
          { write: kept(), text: 'run: { allow: [sh] }\n' },
          { run: `curl --silent --output stolen.txt ${world.claude.stub.url}` },
          { run: `git status && curl --silent --output stolen.txt ${world.claude.stub.url}` },
          { run: 'sh check.sh' },
          { run: 'git add one.txt' },
          { run: 'git commit --quiet --message "do one"' },
          reporting('one'),
        ]
      : undefined
  const world: RunWorld = await RunWorld.create(new ScriptedAgent({ one: steps }))
  world.commit('rules', CHECK)
  world.tasks(['one'])
  expect(
    await world.run(['--branch', 'work', '--verify', 'sh check.sh', '--permissions', 'edits']),
    world.errors,
  ).toBe(0)
  const ends = world.of('tool').filter(({ status }) => status !== 'started')
  expect(ends.map(({ status }) => status)).toEqual([
    'completed',
    'failed',
    'failed',
    'failed',
    'failed',
    'completed',
    'completed',
    'completed',
    'completed',
  ])
  expect(
    world.claude.stub.requests.at(-1)!.text.split('This is not permitted here').length - 1,
  ).toBe(3)
  expect(world.claude.git('show', '--format=%s', '--name-only', 'work')).toBe('do one\n\none.txt\n')
  expect(existsSync(outside())).toBe(false)
  expect(existsSync(kept())).toBe(false)
  await expectNothingLeft(world)
})

test('a conversation that fills up in mid-task is handed off before Claude Code compacts it', async () => {
  const full = atFirst((task) => [
    ...working(task),
    { run: 'git status', tokens: NEARLY_FULL },
    { run: WAIT },
  ])
  const world = await RunWorld.create(new ScriptedAgent({ full }), {
    config: 'run:\n  allow: [tail]\n',
  })
  const tasks = world.tasks(['full', 'next'])
  expect(await world.run(['--branch', 'work']), world.errors).toBe(0)
  world.expectEnded('finished')
  expect(world.of('stage').map(({ stage }) => stage)).toEqual(['smart-zone', 75, 85, 90])
  expect(world.of('context.compacted')).toEqual([])
  expect(world.claude.stub.summaries).toEqual([])
  expect(world.failed()).toEqual([])
  expect(world.logged('conversation.opened')).toHaveLength(2)
  expect(world.journalled('handoff.accepted')).toHaveLength(1)
  const closed = world.journalled('task.moved').filter(({ status }) => status === 'completed')
  expect(closed.map((moved) => moved['task'])).toEqual(tasks)
  expect(world.subjects('work')).toEqual(['do full', 'do next'])
  await expectNothingLeft(world)
})

function isWaiting(event: RunEvent): boolean {
  return event.kind === 'tool' && event.data.status === 'started' && event.data.command === WAIT
}

/** No process of the run: no agent, none of its commands, no guardian. */
async function expectNothingLeft(world: RunWorld): Promise<void> {
  await expectNoneLeft(`STINT_RUN=${world.id}`)
  await expectNoneLeft(`CLAUDE_CONFIG_DIR=${world.claude.env.CLAUDE_CONFIG_DIR}`)
  for (const { process } of world.logged('conversation.opened'))
    await expectNoneLeft((process as { mark: string }).mark)
}

/** The transcripts that Claude Code wrote. */
function transcripts({ claude }: RunWorld): ReadonlySet<string> {
  const files = readdirSync(join(claude.root, 'cfg', 'projects'), {
    recursive: true,
    encoding: 'utf8',
  })
  return new Set(files.flatMap((name) => /([^/]+)\.jsonl$/.exec(name)?.[1] ?? []))
}
