// What every harness promises, whichever program is behind it. Tests of a capability that a harness
// does not declare are skipped; no test checks its name.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type {
  Conversation,
  Harness,
  HarnessEvent,
  ConversationOptions,
  PermissionRequest,
} from '../../src/harness/contract/drive.ts'
import { isAlive } from '../../src/harness/process/spawn-guarded.ts'
import type { Usage } from '../../src/session/entries.ts'
import { carriersOf } from '../support/processes.ts'
import { scratchFolder } from '../support/scratch.ts'

/** A harness and a scripted model behind it. Removed with the running test. */
export interface HarnessWorld {
  readonly harness: Harness
  /** `cwd` is a git project, `permissions` is 'all', and no command is listed as allowed. */
  readonly open: ConversationOptions
  /**
   * What the model does in the coming turns, one list per turn. Call it before opening the
   * conversation.
   */
  script(...turns: readonly (readonly Act[])[]): void
  /** All requests so far as one text, as the model would read them (not as JSON). */
  seen(): string
  /** The total usage that the model reported in these turns. */
  spent(): Usage
  /** The harness without its program; by default the same harness with an empty PATH. */
  readonly missing?: { readonly harness: Harness; readonly env: NodeJS.ProcessEnv }
}

export type Act =
  | { readonly say: string }
  /** Runs a shell command. */
  | { readonly run: string }
  /** Writes a file of the project with the harness's tool for it. */
  | { readonly write: string; readonly text: string }
  /** The context size after the next reply, as the harness should report it. */
  | { readonly tokens: number }
  /** Makes the harness compact, at once or before the next turn. */
  | { readonly compact: true }
  | EndingAct

/** Ends the turn. */
export type EndingAct =
  | { readonly fail: string }
  /** The usage limit is reached until then. */
  | { readonly limit: string }
  | { readonly hang: true }
  /** kill -9 of the agent program. */
  | { readonly die: true }

type EventOf<Type extends HarnessEvent['type']> = Extract<HarnessEvent, { readonly type: Type }>

/** Characters and markup that programs often mishandle. */
const HOSTILE = `first-é🧭\u0001\u0007\u001B[31mred\u001B[0m\r\ncr-lf\u2028ls\u2029ps\u0085nel "quotes" \\n </x> ${'long '.repeat(20_000)}last`

export function testHarness(name: string, create: () => Promise<HarnessWorld>): void {
  describe(`${name} as a harness`, () => {
    test('reports its version when it is installed', async () => {
      const { harness, open } = await create()
      expect(await harness.check(open.env)).toEqual({
        isThere: true,
        version: expect.stringMatching(/\d/),
      })
    })

    test('reports a missing program with the fix', async () => {
      const world = await create()
      const { harness, env } = world.missing ?? {
        harness: world.harness,
        env: { ...world.open.env, PATH: '/nowhere' },
      }
      expect(await harness.check(env)).toEqual({
        isThere: false,
        problem: expect.stringMatching(/\w/),
        hint: expect.stringMatching(/\w/),
      })
    })

    test('emits a turn as started, text and tool events, and ends it exactly once', async () => {
      const world = await create()
      world.script([
        { say: 'I look first.' },
        { run: 'echo sum-$((40+2))' },
        { say: 'It is forty-two.' },
      ])
      const conversation = await opened(world)
      const events = await turn(conversation, 'What is the sum?')
      expect(endOf(events)).toMatchObject({ how: 'completed' })
      expect(of(events, 'started').map((event) => event.conversation)).toEqual([conversation.id])
      expect(conversation.id).toMatch(/\w/)
      expect(textIn(events)).toMatch(/I look first\.[^]*It is forty-two\./)
      expect(endOf(events).said ?? 'It is forty-two.').toContain('It is forty-two.')
      const [start, end, ...others] = of(events, 'tool')
      expect(others).toEqual([])
      expect(start).toMatchObject({
        status: 'started',
        command: expect.stringContaining('echo sum-$((40+2))'),
      })
      expect(end).toMatchObject({ status: 'completed', id: start!.id, command: start!.command })
      expect(end!.output ?? 'sum-42').toContain('sum-42')
      expect(world.seen()).toContain('What is the sum?')
    })

    test('reports a failed command as failed', async () => {
      const world = await create()
      world.script([{ run: 'echo broken; exit 3' }, { say: 'It failed.' }])
      const events = await turn(await opened(world), 'Try it.')
      expect(of(events, 'tool').map((event) => event.status)).toEqual(['started', 'failed'])
      expect(endOf(events).how).toBe('completed')
    })

    test('writes files and reports their paths', async () => {
      const world = await create()
      world.script([{ write: 'notes.txt', text: 'one\ntwo\n' }, { say: 'Written.' }])
      const events = await turn(await opened(world), 'Write it down.')
      expect(readFileSync(join(world.open.cwd, 'notes.txt'), 'utf8').trimEnd()).toBe('one\ntwo')
      const tools = of(events, 'tool')
      expect(tools.map((event) => event.status)).toEqual(['started', 'completed'])
      expect(tools[0]!.path ?? tools[0]!.command).toContain('notes.txt')
    })

    test('serves all turns of a conversation from one process under one id', async ({ skip }) => {
      const world = await create()
      skip(!world.harness.capabilities.multiTurn, 'takes one turn a conversation')
      world.script([{ say: 'one' }], [{ run: 'echo two' }, { say: 'two' }], [{ say: 'three' }])
      const conversation = await opened(world)
      const { process: mark } = conversation
      const turns = [
        await turn(conversation, 'A'),
        await turn(conversation, 'B'),
        await turn(conversation, 'C'),
      ]
      expect(turns.map((events) => endOf(events).how)).toEqual([
        'completed',
        'completed',
        'completed',
      ])
      expect(turns.map(textIn)).toEqual([
        expect.stringContaining('one'),
        expect.stringContaining('two'),
        expect.stringContaining('three'),
      ])
      expect(turns.flatMap((events) => of(events, 'started'))).toHaveLength(1)
      expect(conversation.process).toEqual(mark)
      expect(isAlive(mark)).toBe(true)
    })

    test('sums the usage and reports the context size that the model reported', async ({
      skip,
    }) => {
      const world = await create()
      skip(world.harness.capabilities.usage === 'none', 'does not tell what was used')
      skip(!world.harness.capabilities.multiTurn, 'takes one turn a conversation')
      world.script(
        [{ tokens: 21_000 }, { say: 'one' }],
        [{ tokens: 24_000 }, { run: 'true' }, { tokens: 26_500 }, { say: 'two' }],
        [{ tokens: 30_000 }, { say: 'three' }],
      )
      const conversation = await opened(world)
      const turns = [
        await turn(conversation, 'A'),
        await turn(conversation, 'B'),
        await turn(conversation, 'C'),
      ]
      const contexts = turns.map(
        (events) => of(events, 'usage').findLast((event) => event.context !== undefined)?.context,
      )
      expect(contexts).toEqual([21_000, 26_500, 30_000])
      expect(sum(turns.flat())).toEqual(world.spent())
    })

    test('sends the system prompt once, not with every turn', async ({ skip }) => {
      const world = await create()
      skip(!world.harness.capabilities.systemPrompt, 'takes no standing instructions')
      world.script([{ say: 'one' }], [{ say: 'two' }], [{ say: 'three' }])
      const conversation = await opened(world, { systemPrompt: 'STANDING-RULE: be brief.' })
      for (const prompt of ['FIRST-PROMPT', 'SECOND-PROMPT', 'THIRD-PROMPT'])
        await turn(conversation, prompt)
      // Each request repeats the conversation, so the rule occurs as often as the first prompt, not
      // more often.
      const count = (text: string) => world.seen().split(text).length - 1
      expect(count('STANDING-RULE')).toBeGreaterThan(0)
      expect(count('STANDING-RULE')).toBeLessThanOrEqual(count('FIRST-PROMPT'))
    })

    test('reports a compaction once, and the conversation continues', async ({ skip }) => {
      const world = await create()
      skip(!world.harness.capabilities.compactionEvents, 'does not tell when it compacts')
      world.script([{ say: 'one' }, { compact: true }], [{ say: 'two' }], [{ say: 'three' }])
      const conversation = await opened(world)
      const turns = [
        await turn(conversation, 'A'),
        await turn(conversation, 'B'),
        await turn(conversation, 'C'),
      ]
      expect(turns.flatMap((events) => of(events, 'compaction'))).toHaveLength(1)
      expect(turns.map((events) => endOf(events).how)).toEqual([
        'completed',
        'completed',
        'completed',
      ])
      expect(turns.flatMap((events) => of(events, 'started'))).toHaveLength(1)
    })

    test('ends the turn as failed with the reason when the model fails, and accepts the next prompt', async () => {
      const world = await create()
      world.script([{ fail: 'the model is out of order' }], [{ say: 'back again' }])
      const conversation = await opened(world)
      const failed = await turn(conversation, 'A')
      expect(endOf(failed)).toMatchObject({
        how: 'failed',
        failure: expect.stringContaining('out of order'),
      })
      if (!world.harness.capabilities.multiTurn) return
      const next = await turn(conversation, 'B')
      expect(endOf(next).how).toBe('completed')
      expect(textIn(next)).toContain('back again')
    })

    test('reports a usage limit, with its reset time if known', async () => {
      const world = await create()
      const resetsAt = new Date(Math.ceil(Date.now() / 3_600_000 + 2) * 3_600_000).toISOString()
      world.script([{ limit: resetsAt }])
      const events = await turn(await opened(world), 'A')
      const [limit, ...more] = of(events, 'limit')
      expect(limit?.message).toMatch(/\w/)
      expect(more).toEqual([])
      expect(Date.parse(limit?.resetsAt ?? resetsAt)).toBe(Date.parse(resetsAt))
      expect(endOf(events).how).toBe('failed')
    })

    test('ends a hanging turn as interrupted on request, and the conversation continues', async () => {
      const world = await create()
      world.script([{ hang: true }], [{ say: 'awake again' }])
      const conversation = await opened(world)
      await conversation.interrupt()
      const hanging = turn(conversation, 'HANG-ON')
      await expect.poll(() => world.seen(), WHILE).toContain('HANG-ON')
      await conversation.interrupt()
      expect(endOf(await hanging).how).toBe('interrupted')
      await conversation.interrupt()
      if (!world.harness.capabilities.multiTurn) return
      const next = await turn(conversation, 'B')
      expect(endOf(next).how).toBe('completed')
      expect(textIn(next)).toContain('awake again')
    })

    test('ends the turn as died when the program is killed, and resumes under the same id', async ({
      skip,
    }) => {
      const world = await create()
      world.script([{ say: 'one' }], [{ die: true }], [{ say: 'here again' }])
      const first = await opened(world)
      const before = world.harness.capabilities.multiTurn ? await turn(first, 'A') : undefined
      const died = await turn(first, 'B')
      expect(endOf(died)).toMatchObject({ how: 'died', failure: expect.stringMatching(/\w/) })
      expect(endOf(await turn(first, 'too late')).how).toBe('died')
      await first.close()
      expect(carriersOf(first.process.mark)).toEqual([])

      skip(
        !world.harness.capabilities.resume || before === undefined,
        'cannot go on with a conversation',
      )
      const second = await opened(world, { resume: first.id! })
      const events = await turn(second, 'C')
      expect(of(events, 'started').map((event) => event.conversation)).toEqual([first.id])
      expect(endOf(events).how).toBe('completed')
      // Earlier turns are history and are not sent again.
      expect(textIn(events).trim()).toBe('here again')
    })

    test('ends the turn as died when all its processes are killed from outside', async () => {
      const world = await create()
      world.script([{ hang: true }])
      const conversation = await opened(world)
      const hanging = turn(conversation, 'HANG-ON')
      await expect.poll(() => world.seen(), WHILE).toContain('HANG-ON')
      for (const pid of carriersOf(conversation.process.mark)) kill(pid)
      expect(endOf(await hanging).how).toBe('died')
    })

    test('leaves no process when closed between turns, even if closed twice', async () => {
      const world = await create()
      world.script([{ run: 'setsid sleep 987 > /dev/null 2>&1 &' }, { say: 'one' }])
      const conversation = await opened(world)
      await turn(conversation, 'A')
      expect(isAlive(conversation.process)).toBe(true)
      await conversation.close()
      expect(carriersOf(conversation.process.mark)).toEqual([])
      await conversation.close()
      expect(endOf(await turn(conversation, 'too late')).how).toBe('died')
    })

    test('leaves no process when closed in the middle of a turn, which ends', async () => {
      const world = await create()
      world.script([{ hang: true }])
      const conversation = await opened(world)
      const hanging = turn(conversation, 'HANG-ON')
      await expect.poll(() => world.seen(), WHILE).toContain('HANG-ON')
      await Promise.all([conversation.close(), conversation.close()])
      expect(carriersOf(conversation.process.mark)).toEqual([])
      expect(['died', 'interrupted']).toContain(endOf(await hanging).how)
    })

    test('works behind a wrapper command, and leaves no process of either', async () => {
      const world = await create()
      const folder = scratchFolder()
      writeFileSync(
        join(folder, 'wrap'),
        '#!/bin/sh\nprintf "%s\\n" "$@" > "$(dirname "$0")/words"\nshift\nsetsid sleep 987 > /dev/null 2>&1 &\n"$@"\n',
      )
      chmodSync(join(folder, 'wrap'), 0o755)
      world.script([{ run: 'echo sum-$((40+2)) > sum.txt' }, { say: 'done' }])
      const conversation = await opened(world, { wrap: [join(folder, 'wrap'), 'two words'] })
      const events = await turn(conversation, 'A')
      expect(endOf(events).how).toBe('completed')
      expect(readFileSync(join(world.open.cwd, 'sum.txt'), 'utf8')).toBe('sum-42\n')
      const [first, program] = readFileSync(join(folder, 'words'), 'utf8').split('\n')
      expect(first).toBe('two words')
      expect(program).toMatch(/\w/)
      await conversation.close()
      expect(carriersOf(conversation.process.mark)).toEqual([])
    })

    test('under `edits` allows edits, git and listed commands, and refuses the rest unless the user allows it', async ({
      skip,
    }) => {
      const world = await create()
      skip(
        !world.harness.capabilities.permissions.includes('edits'),
        'does not keep to `edits` by itself',
      )
      plantMaker(world.open.cwd)
      const acts: readonly Act[] = [
        { write: 'edited.txt', text: 'edited\n' },
        { run: 'git tag by-the-agent' },
        { run: './make-file allowed.txt' },
        { run: './make-file other.txt' },
        { run: 'git status && ./make-file sneaked.txt' },
        { say: 'done' },
      ]
      world.script(acts, acts)
      const asked: PermissionRequest[] = []
      const wanted = [
        'edited.txt',
        'allowed.txt',
        'other.txt',
        'sneaked.txt',
        '.git/refs/tags/by-the-agent',
      ]
      const there = () => wanted.map((path) => existsSync(join(world.open.cwd, path)))
      const edits = { permissions: 'edits', allow: ['./make-file allowed'] } as const

      const refused = await turn(await opened(world, edits), 'A')
      expect(there()).toEqual([true, true, false, false, true])
      expect(of(refused, 'tool').filter((event) => event.status === 'failed')).toHaveLength(2)
      expect(endOf(refused).how).toBe('completed')

      const decide = async (request: PermissionRequest) => {
        asked.push(request)
        return request.command?.includes('other.txt') === true
      }
      await turn(await opened(world, { ...edits, decide }), 'B')
      expect(there()).toEqual([true, true, true, false, true])
      expect(asked.map((request) => request.command)).toEqual([
        expect.stringContaining('./make-file other.txt'),
        expect.stringContaining('./make-file sneaked.txt'),
      ])
      expect(asked.every((request) => request.title !== '' && !request.title.includes('\n'))).toBe(
        true,
      )
    })

    test('asks the user about every command under `ask`', async ({ skip }) => {
      const world = await create()
      skip(
        !world.harness.capabilities.permissions.includes('ask'),
        'does not keep to `ask` by itself',
      )
      plantMaker(world.open.cwd)
      world.script([
        { run: './make-file first.txt' },
        { run: './make-file second.txt' },
        { say: 'done' },
      ])
      const asked: (string | undefined)[] = []
      const decide = async ({ command }: PermissionRequest) => {
        asked.push(command)
        return command?.includes('second') === true
      }
      await turn(await opened(world, { permissions: 'ask', allow: ['./make-file'], decide }), 'A')
      expect(asked).toHaveLength(2)
      expect(existsSync(join(world.open.cwd, 'first.txt'))).toBe(false)
      expect(existsSync(join(world.open.cwd, 'second.txt'))).toBe(true)
    })

    test('passes a prompt to the model unchanged, whatever it contains', async () => {
      const world = await create()
      world.script([{ say: 'read' }])
      const events = await turn(await opened(world), HOSTILE)
      expect(endOf(events).how).toBe('completed')
      expect(world.seen().includes(HOSTILE)).toBe(true)
    })

    test('is not confused by what a command prints', async () => {
      const world = await create()
      writeFileSync(
        join(world.open.cwd, 'hostile.bin'),
        Buffer.concat([Buffer.from(HOSTILE), Buffer.from([0xff, 0xc3, 0, 0x0a])]),
      )
      world.script([{ run: 'cat hostile.bin' }, { say: 'read' }])
      const events = await turn(await opened(world), 'Read it.')
      expect(of(events, 'tool').map((event) => event.status)).toEqual(['started', 'completed'])
      expect(endOf(events).how).toBe('completed')
      expect(textIn(events)).toContain('read')
    })

    test('passes every line of the protocol, in both directions, to `trace`', async () => {
      const world = await create()
      world.script([{ say: 'an answer' }])
      const lines = { to: '', from: '' }
      const trace = (direction: 'to' | 'from', line: string) => {
        expect(line).not.toContain('\n')
        lines[direction] += `${line}\n`
      }
      await turn(await opened(world, { trace }), 'a question')
      expect(lines.to).toContain('a question')
      expect(lines.from).toContain('an answer')
    })
  })
}

const WHILE = { interval: 20 }

async function opened(
  world: HarnessWorld,
  more: Partial<ConversationOptions> = {},
): Promise<Conversation> {
  const conversation = await world.harness.open({ ...world.open, ...more })
  onTestFinished(() => conversation.close())
  return conversation
}

/** One complete turn. Fails unless it ends exactly once, with the last event. */
export async function turn(
  conversation: Conversation,
  prompt: string,
): Promise<readonly HarnessEvent[]> {
  const events: HarnessEvent[] = []
  for await (const event of conversation.prompt(prompt)) events.push(event)
  expect(events.map((event) => event.type).indexOf('turn ended')).toBe(events.length - 1)
  return events
}

function endOf(events: readonly HarnessEvent[]): EventOf<'turn ended'> {
  return events.at(-1) as EventOf<'turn ended'>
}

function of<Type extends HarnessEvent['type']>(
  events: readonly HarnessEvent[],
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type)
}

function textIn(events: readonly HarnessEvent[]): string {
  return of(events, 'text')
    .map((event) => event.text)
    .join('\n')
}

function sum(events: readonly HarnessEvent[]): Usage {
  const total = { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }
  for (const { spent } of of(events, 'usage'))
    for (const key of Object.keys(total) as (keyof Usage)[]) total[key] += spent?.[key] ?? 0
  return total
}

/** A program of the project that is not allowed by default. */
function plantMaker(cwd: string): void {
  writeFileSync(join(cwd, 'make-file'), '#!/bin/sh\necho made > "$1"\n')
  chmodSync(join(cwd, 'make-file'), 0o755)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended together with another one.
  }
}
