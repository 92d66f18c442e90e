import { expect, test } from 'vitest'
import { expectNoneLeft } from '../support/processes.ts'
import { answerAs } from './claude-agent.ts'
import { ClaudeWorld } from './claude-world.ts'
import { claudeAcpProgram } from './install-acp.ts'
import { ScriptedAgent, type Way, reporting, working } from './scripted-agent.ts'
import { StartedRun } from './started-run.ts'

const writing =
  (first: string): Way =>
  (occasion, task) => [
    { write: `${task}.txt`, text: `${occasion === 'task' ? first : 'right'}\n` },
    working(task)[1]!,
    reporting(task),
  ]

test('an ACP agent finishes three tasks once each, one of them after its verify command failed', async () => {
  const claude = await ClaudeWorld.create('2.1.325', { setup: false })
  Object.assign(claude.env, {
    CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
    CLAUDE_CODE_MAX_RETRIES: '0',
  })
  answerAs(
    claude.stub,
    new ScriptedAgent({ one: writing('right'), two: writing('wrong'), three: writing('right') }),
  )
  const run = new StartedRun(claude.project, claude.env)
  run.commit('rules', {
    'check.sh': '! grep --files-with-matches wrong *.txt\n',
    'AGENTS.md': 'Indent with tabs.\n',
  })
  const names = ['one', 'two', 'three']
  const ids = run.tasks(names)
  const before = run.checkout()
  const code = await run.run([
    '--harness',
    `acp:${claudeAcpProgram}`,
    '--branch',
    'work',
    '--verify',
    'sh check.sh',
  ])
  expect(code, run.errors).toBe(0)
  await expectNoneLeft(claude.root)

  run.expectEnded('finished')
  expect(run.closings()).toEqual(Object.fromEntries(ids.map((id) => [id, 1])))
  expect(run.subjects('work')).toEqual(['do one', 'do two', 'do two', 'do three'])
  expect(names.map((name) => run.git('show', `work:${name}.txt`))).toEqual(
    names.map(() => 'right\n'),
  )
  expect(run.failed().map(({ task: { name }, next }) => [name, next])).toEqual([
    ['two', 'same conversation again'],
  ])
  expect(run.journalled('conversation.joined')).toHaveLength(1)
  expect(run.journalled('conversation.ended')).toHaveLength(1)
  expect(run.diagnosed()).toEqual([])
  expect(run.checkout()).toEqual(before)
  // It accepts no system prompt, so the rules come with the first prompt, once.
  for (const { text } of claude.stub.turns)
    for (const rule of ['You work through a backlog', '<stint-file path="AGENTS.md">'])
      expect(text.split(rule)).toHaveLength(2)
})
