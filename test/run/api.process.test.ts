// `stint run` with a bare model: the real program, with only the model stubbed.
import { expect, onTestFinished, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { answerAsModel } from '../harness/api-agent.ts'
import { ModelStub } from '../harness/model-stub.ts'
import { ScriptedAgent, reporting } from '../harness/scripted-agent.ts'
import { StartedRun } from '../harness/started-run.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { gitProject } from '../support/project.ts'
import { scratchFolder } from '../support/scratch.ts'

const SLEEP = 'sleep 987'

function doing(task: string) {
  const commit = `git add ${task}.txt && git commit --quiet --message "do ${task}"`
  return [{ write: `${task}.txt`, text: `${task}\n` }, { run: commit }, reporting(task)] as const
}

test('a bare model finishes two tasks, one after a false report and one across kill -9 of the runner', async () => {
  const stub = await new ModelStub().start()
  onTestFinished(() => stub.stop())
  let isKilled = false
  const agent = new ScriptedAgent({
    one: (occasion) =>
      occasion === 'not done' ? doing('one') : [reporting('one'), { say: 'It is done.' }],
    two: () => (isKilled ? doing('two') : [{ run: SLEEP }]),
  })
  answerAsModel(stub, agent)
  const world = new StartedRun(gitProject().root, {
    PATH: process.env.PATH!,
    HOME: scratchFolder(),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
    STUB_KEY: 'key-of-the-stub',
  })
  world.commit('start', { 'a.txt': 'a\n', 'AGENTS.md': 'PROJECT-RULE: be kind.\n' })
  const allow = `run:\n  harness: api:local\n  allow: ['${SLEEP}', 'git commit']\n`
  const model = `provider: openai, base_url: "${stub.url}/v1", model: small-1, window: 100000, key_env: STUB_KEY`
  world.write('.sessions/config.yaml', `${allow}api:\n  providers:\n    local: { ${model} }\n`)
  world.tasks(['One', 'Two'])

  const code = await world.run([], (event, runner) => {
    if (event.kind === 'tool' && event.data.status === 'started' && event.data.command === SLEEP)
      void world.whenRuns(SLEEP).then(() => runner.kill('SIGKILL'))
  })
  expect(code, world.errors).toBeNull()
  await expectNoneLeft(`STINT_RUN=${world.id}`)
  isKilled = true
  expect(await world.run(['--resume']), world.errors).toBe(0)
  world.expectEnded('finished')
  expect(Object.values(world.closings())).toEqual([1, 1])
  await expectNoneLeft(`STINT_RUN=${world.id}`)

  // After a crash of the runner the next conversation starts with a handoff and reads the project's instructions once.
  const store = conversationStore(`${world.project}/.sessions`, {})
  expect(store.list()).toHaveLength(2)
  for (const { id } of store.list()) {
    const [began] = store.read(id)
    expect(began).toMatchObject({ type: 'began', harness: 'api:local', model: 'small-1' })
  }
  for (const { text } of stub.turns) expect(text.split('PROJECT-RULE')).toHaveLength(2)
  expect(stub.turns.at(-1)!.text).toContain('begun in an earlier conversation')
})
