// What is specific to Codex.
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type {
  Conversation,
  HarnessEvent,
  ConversationOptions,
} from '../../src/harness/contract/drive.ts'
import { codexHarness } from '../../src/harness/codex/drive.ts'
import type { Usage } from '../../src/session/entries.ts'
import { carriersOf } from '../support/processes.ts'
import { CodexWorld } from './codex-world.ts'
import { codexProgram } from './install.ts'
import type { ResponsesBody } from './responses-stub.ts'
import { turn } from '../contract/harness.ts'

async function opened(
  world: CodexWorld,
  more: Partial<ConversationOptions> = {},
): Promise<Conversation> {
  const conversation = await codexHarness.open({ ...world.open, ...more })
  onTestFinished(() => conversation.close())
  return conversation
}

function outputs(events: readonly HarnessEvent[]): string {
  return events
    .flatMap((event) => (event.type === 'tool' && event.output !== undefined ? [event.output] : []))
    .join('\n')
}

function spentIn(events: readonly HarnessEvent[]): Usage {
  const all = events.flatMap((event) =>
    event.type === 'usage' && event.spent !== undefined ? [event.spent] : [],
  )
  const sum = (of: (usage: Usage) => number) => all.reduce((total, usage) => total + of(usage), 0)
  return {
    input: sum(({ input }) => input),
    cacheWritten: sum(({ cacheWritten }) => cacheWritten),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    output: sum(({ output }) => output),
  }
}

/** A program of the project that records each run. */
function plantCounter(folder: string): () => number {
  const path = join(folder, 'count')
  writeFileSync(path, '#!/bin/sh\necho run >> runs.txt && git add -A && git commit -qm "$1"\n')
  chmodSync(path, 0o755)
  return () => readFileSync(join(folder, 'runs.txt'), 'utf8').split('\n').filter(Boolean).length
}

function commandLines(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
      } catch {
        // It ended meanwhile.
        return ''
      }
    })
}

describe('Codex, driven by its app-server', () => {
  test.each(['ask', 'edits', 'all'] as const)(
    'leaves its configuration unchanged after a run under `%s`',
    async (permissions) => {
      const world = await CodexWorld.create()
      const before = world.configuration
      world.script([
        { write: 'a.txt', text: 'a\n' },
        { run: 'git add -A && git commit -qm a' },
        { say: 'done' },
      ])
      const conversation = await opened(world, {
        permissions,
        decide: async () => true,
        systemPrompt: 'RULES',
      })
      await turn(conversation, 'go')
      await conversation.close()
      expect(world.git('log', '--format=%s')).toContain('a\n')
      expect(world.configuration).toBe(before)
    },
  )

  test('commits in a linked worktree under `edits`, and runs each command once', async () => {
    const world = await CodexWorld.create()
    const cwd = join(world.root, 'linked')
    world.git('worktree', 'add', '-q', cwd, '-b', 'work')
    const runs = plantCounter(cwd)
    world.script([
      { run: 'git add -A && git commit -qm by-git' },
      { run: './count by-command' },
      { say: 'done' },
    ])
    const events = await turn(
      await opened(world, { cwd, permissions: 'edits', allow: ['./count'] }),
      'go',
    )
    expect(events.filter((event) => event.type === 'tool' && event.status === 'failed')).toEqual([])
    expect(world.git('log', '--format=%s', 'work').split('\n')).toEqual(
      expect.arrayContaining(['by-git', 'by-command']),
    )
    expect(runs()).toBe(1)
  })

  const canUnshare = (() => {
    try {
      execFileSync(
        'unshare',
        ['-U', '-r', 'sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces'],
        { stdio: 'ignore' },
      )
      return true
    } catch {
      return false
    }
  })()

  test.skipIf(!canUnshare)(
    'works under `edits` where no sandbox can be created, as in a container',
    async () => {
      const world = await CodexWorld.create()
      const program = join(world.root, 'codex-in-container')
      const within = `echo 0 > /proc/sys/user/max_user_namespaces; exec ${codexProgram()} "$@"`
      writeFileSync(program, `#!/bin/sh\nexec unshare -U -r sh -c '${within}' sh "$@"\n`)
      chmodSync(program, 0o755)
      world.script([
        { write: 'a.txt', text: 'a\n' },
        { run: 'git add a.txt && git commit -qm inside && ls' },
        { say: 'done' },
      ])
      const events = await turn(
        await opened(world, { env: { ...world.env, STINT_CODEX: program }, permissions: 'edits' }),
        'go',
      )
      expect(outputs(events)).toContain('a.txt')
      expect(world.git('log', '--format=%s')).toContain('inside')
    },
  )

  test.each(['', '[shell_environment_policy]\ninherit = "none"'])(
    'runs its commands with our PATH and variables, even if the user configured others: %j',
    async (more) => {
      const world = await CodexWorld.create()
      world.configure(more)
      const env = {
        ...world.env,
        PATH: `${world.root}/ours:${world.env.PATH}`,
        STINT_RUN: 'run-1',
        STINT_SESSION: 'session-1',
      }
      world.script([
        { run: 'echo "[$PATH] [$STINT_RUN] [$STINT_SESSION] [$STINT_MARK]"' },
        { say: 'done' },
      ])
      const conversation = await opened(world, { env })
      const output = outputs(await turn(conversation, 'go'))
      expect(output).toContain(`${world.root}/ours`)
      expect(output).toContain(`[run-1] [session-1] [${conversation.process.mark}]`)
    },
  )

  test('follows its user’s instructions beside ours and the project’s, even after a compaction', async () => {
    const world = await CodexWorld.create()
    world.configure('developer_instructions = "THEIR-RULE"')
    writeFileSync(join(world.project, 'AGENTS.md'), 'PROJECT-RULE\n')
    world.script([{ say: 'one' }, { compact: true }], [{ say: 'two' }])
    const conversation = await opened(world, { systemPrompt: 'OUR-RULE' })
    await turn(conversation, 'FIRST-PROMPT')
    await turn(conversation, 'SECOND-PROMPT')
    expect(world.stub.summaries).toHaveLength(1)
    const count = (text: string, rule: string) => text.split(rule).length - 1
    for (const { text } of world.stub.turns)
      expect(['THEIR-RULE', 'OUR-RULE', 'PROJECT-RULE'].map((rule) => count(text, rule))).toEqual([
        1, 1, 1,
      ])
  })

  test('reports a compaction in the middle of a turn, which continues', async () => {
    const world = await CodexWorld.create()
    world.script([{ tokens: 60_000 }, { run: 'true' }, { tokens: 9000 }, { say: 'still here' }])
    const events = await turn(await opened(world), 'go')
    expect(events.filter(({ type }) => type === 'compaction')).toEqual([
      { type: 'compaction', tokensBefore: 60_000, boundary: expect.stringMatching(/\w/) },
    ])
    expect(events.at(-1)).toMatchObject({ how: 'completed', said: 'still here' })
    const contexts = events.flatMap((event) =>
      event.type === 'usage' && event.context !== undefined ? [event.context] : [],
    )
    expect(contexts[0]).toBe(60_000)
    expect(contexts.at(-1)).toBe(9000)
    // The summarising request counts too.
    const { input, output } = spentIn(events)
    const scripted = world.spent()
    expect([input - scripted.input, output - scripted.output]).toEqual([5000, 20])
  })

  test.each(['by itself', 50_000] as const)(
    'compacts at the reported compaction point, and not before: configured %s',
    async (configured) => {
      const world = await CodexWorld.create()
      world.configure('', configured)
      const point = configured === 'by itself' ? 180_000 : configured
      for (const [off, compactions] of [
        [-100, 0],
        [100, 1],
      ] as const) {
        world.script([{ tokens: point + off }, { say: 'one' }], [{ say: 'two' }])
        const conversation = await opened(world)
        const filled = await turn(conversation, 'A')
        expect(filled.filter(({ type }) => type === 'usage')).toMatchObject([
          { point, context: point + off },
        ])
        const next = await turn(conversation, 'B')
        expect(next.filter(({ type }) => type === 'compaction')).toHaveLength(compactions)
      }
    },
  )

  test('counts usage once across a resume, reports the context size at once, and keeps our instructions', async () => {
    const world = await CodexWorld.create()
    world.script([{ tokens: 21_000 }, { say: 'one' }], [{ say: 'two' }, { compact: true }])
    const first = await opened(world, { systemPrompt: 'OUR-RULE' })
    const before = await turn(first, 'A')
    await first.close()
    const second = await opened(world, { systemPrompt: 'OUR-RULE', resume: first.id! })
    const after = await turn(second, 'B')
    expect(spentIn([...before, ...after])).toEqual(world.spent())
    expect(after.slice(0, 2)).toMatchObject([
      { type: 'started', conversation: first.id },
      { type: 'usage', context: 21_000 },
    ])
    await turn(second, 'C')
    expect(world.stub.summaries).toHaveLength(1)
    expect(world.stub.turns.map(({ text }) => text.split('OUR-RULE').length - 1)).toEqual([1, 1, 1])
  })

  test('applies its permissions to a sub-agent, whose usage is counted but not as context', async () => {
    const world = await CodexWorld.create()
    const spawn = {
      name: 'spawn_agent',
      namespace: 'multi_agent_v1',
      input: { message: 'CHILD-WORK' },
    }
    const patch =
      "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: theirs.txt\n+theirs\n*** End Patch\nEOF\n"
    const isChild = ({ input }: ResponsesBody) =>
      input.some(
        (item) => item.role === 'user' && JSON.stringify(item.content).includes('CHILD-WORK'),
      )
    world.stub.whenever(
      isChild,
      { tools: [{ name: 'exec_command', input: { cmd: patch } }], inputTokens: 2222 },
      { text: 'done by the child', inputTokens: 3333 },
    )
    world.stub.script(
      { tools: [spawn], inputTokens: 1000 },
      { text: 'one', inputTokens: 1100 },
      { text: 'two', inputTokens: 1200 },
    )
    let ends = 0
    const trace = (direction: string, line: string) => {
      if (direction === 'from' && line.includes('"turn/completed"')) ends += 1
    }
    const conversation = await opened(world, { permissions: 'edits', trace })
    const first = await turn(conversation, 'A')
    await expect.poll(() => ends, { interval: 20 }).toBe(2)
    const second = await turn(conversation, 'B')
    expect(readFileSync(join(world.project, 'theirs.txt'), 'utf8')).toBe('theirs\n')
    const events = [...first, ...second]
    expect(spentIn(events)).toEqual({
      input: 1000 + 1100 + 1200 + 2222 + 3333,
      cacheWritten: 0,
      cacheRead: 0,
      output: 100,
    })
    const contexts = events.flatMap((event) =>
      event.type === 'usage' && event.context !== undefined ? [event.context] : [],
    )
    expect(contexts).toEqual([1020, 1120, 1220])
    expect([first, second].map((all) => all.at(-1))).toMatchObject([
      { said: 'one' },
      { said: 'two' },
    ])
    expect(events.filter(({ type }) => type === 'turn ended')).toHaveLength(2)
  })

  test('ends the command of an interrupted turn', async () => {
    const world = await CodexWorld.create()
    const command = `sleep 4321.${process.pid}`
    const isRunning = () => commandLines().includes(command)
    world.script([{ run: command }])
    const conversation = await opened(world)
    const events: HarnessEvent[] = []
    for await (const event of conversation.prompt('go')) {
      events.push(event)
      if (event.type === 'usage') {
        expect(isRunning()).toBe(true)
        void conversation.interrupt()
      }
    }
    expect(events.filter(({ type }) => type === 'tool')).toMatchObject([
      { status: 'started' },
      { status: 'failed' },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'turn ended', how: 'interrupted' })
    await expect.poll(isRunning, { interval: 20 }).toBe(false)
    expect((await turn(conversation, 'B')).at(-1)).toMatchObject({ how: 'completed' })
  })

  test('ends a turn whose consumer stopped, and accepts the next one', async () => {
    const world = await CodexWorld.create()
    world.script([{ run: 'true' }, { hang: true }], [{ say: 'next' }])
    const conversation = await opened(world)
    for await (const event of conversation.prompt('go')) {
      if (event.type !== 'usage') continue
      await expect.poll(() => world.stub.turns.length, { interval: 20 }).toBe(2)
      break
    }
    expect((await turn(conversation, 'B')).at(-1)).toMatchObject({ how: 'completed', said: 'next' })
  })

  test('declines what no one can decide', async () => {
    const world = await CodexWorld.create()
    const runs = plantCounter(world.project)
    world.script([{ run: './count never' }, { say: 'done' }])
    const decide = () => Promise.reject(new Error('nobody is there'))
    const events = await turn(await opened(world, { permissions: 'edits', decide }), 'go')
    expect(events.at(-1)).toMatchObject({ how: 'completed' })
    expect(runs).toThrow('ENOENT')
  })

  test('uses the requested model, and reports it', async () => {
    const world = await CodexWorld.create()
    world.script([{ say: 'done' }])
    const [started] = await turn(await opened(world, { model: 'another-model' }), 'go')
    expect(started).toMatchObject({ type: 'started', model: 'another-model' })
    expect(world.stub.turns[0]!.body.model).toBe('another-model')
  })

  test('starts no turns by itself', async () => {
    const world = await CodexWorld.create()
    world.script([{ say: 'done' }])
    await turn(await opened(world), 'go')
    expect(world.stub.turns[0]!.body.tools?.map(({ name }) => name)).not.toContain('create_goal')
  })

  test.each(['01a1e07f-c6a7-7a10-971b-7c00cebbdf63', 'no id at all'])(
    'reports that a conversation is missing, and leaves no process: %s',
    async (resume) => {
      const world = await CodexWorld.create()
      const word = `STINT_TEST=${world.root}`
      const opening = codexHarness.open({
        ...world.open,
        env: { ...world.env, STINT_TEST: world.root },
        resume,
      })
      await expect(opening).rejects.toMatchObject({
        code: 'HARNESS_NOT_OPENED',
        hint: expect.stringContaining(resume),
      })
      expect(carriersOf(word)).toEqual([])
    },
  )
})
