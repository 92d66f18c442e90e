import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { project } from './agent.ts'

async function working() {
  const world = project()
  await world.stint('init', '--name', 'fix-login', '--goal', 'Stop the login loop')
  const agent = world.agent()
  await agent.start()
  return { ...world, agent, another: world.agent }
}

describe('a hook records, without a model,', () => {
  test('each edited file once, and none of its own files', async () => {
    const { agent, ofKind } = await working()
    for (const path of [
      'src/a.ts',
      'src/a.ts',
      'src/b.ts',
      '.sessions/active/x.md',
      '../outside.ts',
      'src/a.ts',
    ])
      await agent.edit(path)
    expect(ofKind('file.changed')).toEqual([{ path: 'src/a.ts' }, { path: 'src/b.ts' }])
  })

  test('whole requests of the user, but not a simple yes', async () => {
    const { agent, ofKind } = await working()
    const long = `${'Some background. '.repeat(200)}Deliveries must be signed.`
    for (const prompt of [
      'Make the login work again',
      'yes',
      'continue',
      '/compact now',
      'Continue, but never call the legacy API.',
      long,
    ])
      await agent.prompt(prompt)
    expect(ofKind('request.made').map(({ text }) => text)).toEqual([
      'Make the login work again',
      'Continue, but never call the legacy API.',
      long,
    ])
  })

  test('a request that starts like a path, a tag or a custom command', async () => {
    const { agent, ofKind } = await working()
    const asked = [
      '/src/auth.ts is broken: never use eval',
      "<LoginForm> renders twice, don't touch it",
      '/implement the login page',
    ]
    for (const prompt of [
      ...asked,
      '/compact now',
      '/session-log --note x',
      '<task-notification>done</task-notification>',
    ])
      await agent.prompt(prompt)
    expect(ofKind('request.made').map(({ text }) => text)).toEqual(asked)
  })

  test('prompts typed while the agent worked', async () => {
    const { agent, ofKind } = await working()
    agent.write({
      type: 'attachment',
      attachment: {
        type: 'queued_command',
        prompt: 'and keep the old cookie name',
        commandMode: 'prompt',
      },
    })
    await agent.stop('done')
    await agent.stop('done again')
    expect(ofKind('request.made').map(({ text }) => text)).toEqual(['and keep the old cookie name'])
  })

  test('the last message and the token usage', async () => {
    const { agent, ofKind } = await working()
    await agent.prompt('Make the login work again')
    agent.answers('earlier words')
    await agent.stop('The loop is gone.')
    expect(ofKind('turn.ended')).toEqual([
      {
        conversation: agent.conversation,
        said: 'The loop is gone.',
        model: 'some-model',
        usage: { input: 10, cacheRead: 5000, cacheWritten: 200, output: 30 },
      },
    ])
  })

  test('a passing test run from the tool and a failing one from the transcript, each once', async () => {
    const { agent, ofKind } = await working()
    await agent.run('npm test', ' Tests  12 passed (12)\n', 'toolu_ok')
    agent.write(
      {
        type: 'assistant',
        message: {
          id: 'm1',
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id: 'toolu_bad',
              name: 'Bash',
              input: { command: 'npx vitest run' },
            },
          ],
        },
      },
      {
        type: 'user',
        message: {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_bad',
              is_error: true,
              content: 'Exit code 1\n Tests  1 failed | 11 passed (12)',
            },
          ],
        },
      },
    )
    await agent.stop('one fails')
    await agent.stop('still one fails')
    expect(ofKind('test.ran').map(({ command, passed }) => [command, passed])).toEqual([
      ['npm test', true],
      ['npx vitest run', false],
    ])
  })

  test('commits by anyone, with their subjects', async () => {
    const { agent, ofKind, path, git } = await working()
    writeFileSync(path('a.txt'), 'a')
    git('add', '.')
    git('commit', '-qm', 'Set the cookie once')
    await agent.run('git commit -qm "Set the cookie once"')
    writeFileSync(path('b.txt'), 'b')
    git('add', '.')
    git('commit', '-qm', 'Made in another terminal')
    await agent.prompt('what changed?')
    expect(ofKind('commit.made').map(({ subject }) => subject)).toEqual([
      'Set the cookie once',
      'Made in another terminal',
    ])
  })

  test('the todo list of the agent as steps, without touching steps that people wrote', async () => {
    const { agent, stint } = await working()
    await stint('log', '--step', 'Written by a person')
    const todo = (...todos: readonly (readonly [string, string])[]) =>
      agent.send('PostToolUse', {
        tool_name: 'TodoWrite',
        tool_input: {
          todos: todos.map(([content, status]) => ({ content, status, activeForm: content })),
        },
        tool_response: {},
      })
    await todo(['Find the loop', 'in_progress'], ['Break it', 'pending'])
    await todo(['Find the loop', 'completed'], ['Describe it', 'in_progress'])
    const { steps } = (await stint('view', '--json')).json<{
      steps: { items: { text: string; status: string }[] }
    }>()
    expect(steps.items.map(({ text, status }) => [text, status])).toEqual([
      ['Written by a person', 'started'],
      ['Find the loop', 'done'],
      ['Describe it', 'started'],
    ])
  })

  test('a subagent and its result, from either event', async () => {
    const { agent, ofKind } = await working()
    await agent.send('PostToolUse', {
      tool_name: 'Agent',
      tool_input: {
        description: 'look for the loop',
        prompt: 'find it',
        subagent_type: 'general-purpose',
      },
      tool_response: {
        isAsync: true,
        status: 'async_launched',
        agentId: 'a1',
        description: 'look for the loop',
      },
    })
    await agent.send('SubagentStop', {
      agent_id: 'a1',
      agent_type: 'general-purpose',
      last_assistant_message: 'It is in auth.ts',
    })
    await agent.send('SubagentStop', {
      agent_id: 'summariser',
      agent_type: '',
      last_assistant_message: 'nothing',
    })
    await agent.send('PostToolUse', {
      tool_name: 'Task',
      tool_input: { description: 'check the tests', prompt: 'check', subagent_type: 'reviewer' },
      tool_response: {
        status: 'completed',
        agentId: 'b2',
        content: [{ type: 'text', text: 'They are thin' }],
      },
    })
    expect(ofKind('agent.finished')).toMatchObject([
      { agent: 'a1', task: 'look for the loop', result: 'It is in auth.ts' },
      { agent: 'b2', task: 'check the tests', result: 'They are thin' },
    ])
  })

  test('why the conversation ended, and how its last turn failed', async () => {
    const { agent, ofKind } = await working()
    agent.write({
      type: 'assistant',
      isApiErrorMessage: true,
      message: {
        id: 'e',
        role: 'assistant',
        content: [{ type: 'text', text: 'API Error: 529 overloaded' }],
      },
    })
    await agent.end('prompt_input_exit')
    expect(ofKind('conversation.ended')).toEqual([
      { conversation: agent.conversation, reason: 'prompt_input_exit' },
    ])
    expect(ofKind('turn.ended')).toMatchObject([{ failure: expect.stringContaining('529') }])
  })

  test('nothing for Read, Grep, Glob and unknown tools', async () => {
    const { agent, entries } = await working()
    const before = entries().length
    for (const tool_name of ['Read', 'Grep', 'Glob', 'WebFetch', 'mcp__x__y']) {
      await agent.send('PostToolUse', {
        tool_name,
        tool_input: { file_path: '/x', pattern: 'npm test' },
        tool_response: 'npm test',
      })
    }
    expect(entries()).toHaveLength(before)
  })

  test('no secret, in any field', async () => {
    const { agent, cwd, notes } = await working()
    const secret = `sk-ant-${'api03-'}${'Ab1'.repeat(30)}`
    await agent.prompt(`the key is ${secret} and the loop is in auth`)
    await agent.run(
      `curl -H "x-api-key: ${secret}" localhost && npm test`,
      `Tests  1 passed\n${secret}`,
    )
    await agent.stop(`I used ${secret} for it`)
    agent.compacts('manual', `the person gave ${secret}`)
    await agent.end()
    for (const folder of [cwd, notes]) {
      for (const { name, parentPath } of filesIn(folder)) {
        expect(
          readFileSync(`${parentPath}/${name}`, 'utf8').includes(secret)
            ? `${parentPath}/${name}`
            : '',
        ).toBe('')
      }
    }
  })
})

describe('a journal that only hooks write to', () => {
  test('is not reread from the last snapshot by every hook', async () => {
    const { agent, sessions, path } = await working()
    const snapshot = () =>
      readFileSync(path('.sessions', 'journal', sessions()[0]!, 'snapshot.json'), 'utf8')
    const before = snapshot()
    for (let index = 0; index < 120; index += 1)
      await agent.prompt(`Move handler ${index} ${'behind the new interface '.repeat(12)}`)
    expect(snapshot()).not.toBe(before)
  })
})

describe('a compaction', () => {
  test('counts once when the transcript shows it, however often it is announced', async () => {
    const { agent, ofKind } = await working()
    for (let time = 0; time < 4; time += 1)
      await agent.send('PreCompact', { trigger: 'auto', custom_instructions: null })
    expect(ofKind('context.compacted')).toEqual([])
    await agent.start('compact')
    expect(ofKind('context.compacted')).toEqual([])
    agent.compacts('auto', 'They looked for the loop.')
    await agent.prompt('look at the cookie code')
    await agent.prompt('and at the session code')
    await agent.stop('done')
    expect(ofKind('context.compacted')).toMatchObject([{ trigger: 'auto', tokensBefore: 167_000 }])
    expect(ofKind('summary.kept')).toMatchObject([{ text: 'They looked for the loop.' }])
    expect(ofKind('checkpoint.made').filter(({ preCompact }) => preCompact === true)).toHaveLength(
      1,
    )
    expect(ofKind('handoff.made')).toHaveLength(1)
  })

  test('that was not announced counts, and the lost context is injected again', async () => {
    const { agent, ofKind, stint } = await working()
    await stint('log', '--key', 'the cookie is set twice')
    agent.answers()
    await agent.prompt('look at the cookie code')
    agent.compacts('auto')
    expect(
      (await agent.run('ls')).model + (await agent.prompt('look at the session code')).model,
    ).toContain('the cookie is set twice')
    expect(ofKind('context.compacted')).toHaveLength(1)
  })

  test('counts when there is no transcript', async () => {
    const { agent, ofKind } = await working()
    await agent.send('SessionStart', {
      source: 'compact',
      transcript_path: '/nowhere/at-all.jsonl',
    })
    await agent.send('UserPromptSubmit', {
      prompt: 'look at the cookie code',
      transcript_path: '/nowhere/at-all.jsonl',
    })
    expect(ofKind('context.compacted')).toHaveLength(1)
  })

  test('gives the summariser a plain text with the facts it must keep', async () => {
    const { agent, stint } = await working()
    await stint(
      'log',
      '--key',
      'the cookie is set twice',
      '--decision',
      'Drop it',
      '--rationale',
      'not needed',
    )
    const { printed } = await agent.send('PreCompact', {
      trigger: 'manual',
      custom_instructions: 'focus',
    })
    expect(printed).toMatch(/^💾 Pre-Compaction Checkpoint/)
    expect(printed).toContain('the cookie is set twice')
    expect(printed).toContain('not needed')
  })

  test('counts once when two hooks see it at the same time', async () => {
    const { agent, stint } = await working()
    agent.answers()
    await agent.stop('ok')
    agent.compacts()
    await Promise.all([agent.prompt('look at the cookie code'), agent.run('ls'), agent.stop('ok')])
    const { compactions } = (await stint('view', '--json')).json<{ compactions: number }>()
    expect(compactions).toBe(1)
  })

  test('in a long conversation whose start was not seen is not counted for the session', async () => {
    const { another, ofKind } = await working()
    const late = another()
    for (let line = 0; line < 30; line += 1) late.answers('word '.repeat(10_000))
    late.compacts()
    await late.prompt('look at the cookie code')
    expect(ofKind('context.compacted')).toEqual([])
  })

  test('from before hooks followed the conversation is not counted for the session', async () => {
    const { another, ofKind } = await working()
    const late = another()
    late.answers()
    late.compacts()
    await late.start('resume')
    await late.prompt('look at the cookie code')
    expect(ofKind('context.compacted')).toEqual([])
  })
})

function filesIn(folder: string) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
}
