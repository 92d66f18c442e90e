import { expect, test } from 'vitest'
import type { RunEvent } from '../../src/run/entries.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { answerCodexAs } from './codex-agent.ts'
import { CodexWorld } from './codex-world.ts'
import { ScriptedAgent, type Step, type Way, reporting, working } from './scripted-agent.ts'
import { StartedRun } from './started-run.ts'

const COMPACTS_AT = 150_000
/** Above Codex's compaction point, and above the smart zone. */
const TOO_FULL = 160_000
const LONG = 105_000
/** Above the last stage and below Codex's compaction point. */
const NEARLY_FULL = 140_000

/** With the patch tool, since writing by a command is not allowed by default. */
function doing(task: string, text = 'right'): readonly Step[] {
  return [{ write: `${task}.txt`, text: `${text}\n` }, working(task)[1]!]
}

const usual: Way = (_, task) => [...doing(task), reporting(task)]

const first =
  (steps: (task: string) => readonly Step[]): Way =>
  (occasion, task, prompt) =>
    occasion === 'task' ? steps(task) : usual(occasion, task, prompt)

/** What goes wrong, by task, in order. */
const TASKS: Readonly<Record<string, Way>> = {
  one: usual,
  failing: first((task) => [...doing(task, 'wrong'), reporting(task)]),
  lying: first((task) => [reporting(task)]),
  forbidden: (...asked) => [{ run: 'touch elsewhere.txt' }, ...usual(...asked)!],
  compacted: first((task) => [
    { run: 'git status', tokens: TOO_FULL },
    ...doing(task),
    reporting(task),
  ]),
  hanging: first(() => [{ hang: true }]),
  killed: first((task) => [doing(task)[0]!, { run: 'sleep 600' }]),
  long: first((task) => [...doing(task), reporting(task), { say: 'That was long.', tokens: LONG }]),
  'runner-killed': first((task) => [...doing(task), { run: 'sleep 600' }]),
  ten: usual,
  eleven: usual,
  twelve: usual,
}

// Stages in tokens, above Codex's compaction point: otherwise the run would rotate before that.
const CONFIG = `budget:
  stages: [170000]
run:
  silence_minutes: 1
  allow: [sleep]
`

/** A project in which the model works as scripted here. */
async function begun(
  tasks: Readonly<Record<string, Way>>,
): Promise<{ world: CodexWorld; run: StartedRun }> {
  const world = await CodexWorld.create()
  world.configure('', COMPACTS_AT)
  answerCodexAs(world.stub, new ScriptedAgent(tasks))
  const run = new StartedRun(world.project, world.env)
  run.commit('rules', {
    'check.sh': '! grep --files-with-matches wrong *.txt\n',
    'AGENTS.md': 'Indent with tabs.\n',
  })
  return { world, run }
}

test('Codex does twelve tasks once each despite a failure, a lie, a hang, a compaction and kills', async () => {
  const { world, run } = await begun(TASKS)
  run.write('.sessions/config.yaml', CONFIG)
  const names = Object.keys(TASKS)
  const ids = run.tasks(names)
  // The user keeps working in the main checkout.
  run.write('readme.txt', 'half a sentence\n')
  run.write('notes.txt', 'mine\n')
  const before = [run.checkout(), world.configuration]

  let task = ''
  const isSleeping = (event: RunEvent) =>
    event.kind === 'tool' && event.data.status === 'started' && event.data.command === 'sleep 600'
  const killed = await run.run(
    ['--harness', 'codex', '--branch', 'work', '--verify', 'sh check.sh'],
    (event, runner) => {
      if (event.kind === 'attempt.started') task = event.data.task.name
      if (!isSleeping(event)) return
      if (task === 'killed') world.killAgent()
      else runner.kill('SIGKILL')
    },
  )
  expect(killed, run.errors).toBeNull()
  await expectNoneLeft(`STINT_RUN=${run.id}`)
  expect(await run.run(['--resume']), run.errors).toBe(0)
  await expectNoneLeft(world.root)

  // Done once each, and proved.
  run.expectEnded('finished')
  expect(run.closings()).toEqual(Object.fromEntries(ids.map((id) => [id, 1])))
  const commits = names.flatMap((name) =>
    name === 'failing' ? ['do failing', 'do failing'] : [`do ${name}`],
  )
  expect(run.subjects('work')).toEqual(commits)
  expect(names.map((name) => run.git('show', `work:${name}.txt`))).toEqual(
    names.map(() => 'right\n'),
  )
  const verified = run.of('verify.ended').map(({ task: { name }, passed }) => [name, passed])
  expect(verified).toEqual(
    names.flatMap((name) =>
      name === 'failing'
        ? [
            [name, false],
            [name, true],
          ]
        : [[name, true]],
    ),
  )

  // Each failure was recorded as what it was.
  expect(run.failed().map(({ task: { name }, reason, next }) => [name, reason, next])).toEqual([
    ['failing', 'sh check.sh ended with 1', 'same conversation again'],
    ['lying', 'nothing was committed', 'same conversation again'],
    ['hanging', 'no word for 1 min', 'fresh conversation'],
  ])
  const refused = run.of('tool').filter(({ command }) => command === 'touch elsewhere.txt')
  expect(refused.at(-1)).toMatchObject({ status: 'failed' })
  expect(run.of('context.compacted')).toMatchObject([
    { task: { name: 'compacted' }, tokensBefore: TOO_FULL },
  ])
  expect(run.logged('turn.ended').map(({ how }) => how)).toContain('died')
  expect(
    run.logged('attempt.ended').filter(({ outcome }) => outcome === 'interrupted'),
  ).toHaveLength(1)

  // The journal has all of it: two sessions and five conversations, one of them resumed, each
  // ended.
  const { sessions } = run.of('run.report').at(-1)!
  expect(sessions.map(({ conversations, tasks }) => [conversations, tasks.length])).toEqual([
    [3, 8],
    [2, 4],
  ])
  expect(run.journalled('session.closed').map(({ how }) => how)).toEqual(['completed', 'completed'])
  const conversations = run
    .journalled('conversation.joined')
    .map(({ conversation }) => conversation)
  expect([conversations.length, new Set(conversations).size]).toEqual([5, 4])
  expect(run.journalled('conversation.ended').map(({ conversation }) => conversation)).toEqual(
    conversations,
  )
  expect(run.journalled('context.compacted')).toMatchObject([
    { tokensBefore: TOO_FULL, conversation: conversations[0] },
  ])
  const handoffs = run.journalled('handoff.made').map(({ hash }) => hash)
  expect(handoffs).toHaveLength(3)
  expect(run.journalled('handoff.accepted').map(({ hash }) => hash)).toEqual(handoffs)
  expect(run.journalled('commit.made').map(({ subject }) => subject)).toEqual(commits)
  expect(run.journalled('step.done')).toHaveLength(12)
  expect(run.diagnosed()).toEqual([])

  // The rules were sent once in each conversation, and survived the compaction and the resume.
  const count = (text: string, rule: string) => text.split(rule).length - 1
  for (const { text } of world.stub.turns)
    expect([count(text, 'You work through a backlog'), count(text, 'Indent with tabs')]).toEqual([
      1, 1,
    ])

  // And nothing of the user's was changed.
  expect([run.checkout(), world.configuration]).toEqual(before)
  expect(run.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
}, 300_000)

test('a Codex conversation that fills up in mid-task is handed off before it is compacted, and no other', async () => {
  const { world, run } = await begun({
    filling: first((task) => [
      { run: 'git status', tokens: NEARLY_FULL },
      ...doing(task),
      reporting(task),
    ]),
    reported: first((task) => [
      ...doing(task),
      reporting(task),
      { say: 'That was long.', tokens: NEARLY_FULL },
    ]),
    last: usual,
  })
  const ids = run.tasks(['filling', 'reported', 'last'])
  expect(
    await run.run(['--harness', 'codex', '--branch', 'work', '--verify', 'sh check.sh']),
    run.errors,
  ).toBe(0)
  await expectNoneLeft(world.root)
  expect(run.closings()).toEqual(Object.fromEntries(ids.map((id) => [id, 1])))
  expect(run.subjects('work')).toEqual(['do filling', 'do reported', 'do last'])
  const { sessions } = run.of('run.report')[0]!
  expect(sessions.map(({ conversations, tasks }) => [conversations, tasks.length])).toEqual([
    [2, 2],
    [1, 1],
  ])
  expect(run.failed()).toEqual([])
  expect(world.stub.summaries).toEqual([])
  expect(run.journalled('context.compacted')).toEqual([])
  expect(run.journalled('handoff.accepted')).toHaveLength(2)
})
