// Tokens that hooks inject, measured by running them: in sessions of three sizes, and in a recorded conversation.
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { UNLOGGED_EDITS } from '../../src/hook/nudges.ts'
import { findRepository } from '../../src/git/repository.ts'
import { loadProjectContext } from '../../src/context/survey/project-context.ts'
import { recorded } from '../capture/transcript.ts'
import { Agent } from '../hook/agent.ts'
import { World, plant } from '../support/project.ts'
import { git, initRepository, temporaryFolder } from '../support/scratch.ts'
import { EXAMPLES } from '../survey/repositories.ts'
import { type SessionSize, entriesOf } from '../document/export/token-table.ts'

/** The compaction point of Claude Code with a window of 200,000 tokens. */
export const COMPACTS_AT = 167_000

export interface Given {
  readonly start: string
  readonly summariser: string
  readonly afterCompaction: string
  readonly smartZone: string
  readonly stages: readonly { readonly percent: number; readonly text: string }[]
  /** After unlogged edits. */
  readonly reminder: string
  /** At a prompt, a command, an edit and the end of a turn, with nothing to inject. */
  readonly ordinarily: string
}

/** Tokens injected into the conversations of a session from start to compaction, in a small project. */
export async function givenIn(size: SessionSize): Promise<Given> {
  return withProject('fix/sweep-trigger', async (world, conversation) => {
    for (const [path, text] of Object.entries(EXAMPLES['TypeScript with pnpm']!.files))
      world.write(path, text)
    git(world.root, 'add', '.')
    loadProjectContext(findRepository(world.root)!, { withoutSecrets: (text) => text })
    plant(world, { entries: entriesOf(size) })
    const compacted = conversation()
    const start = injectedText((await compacted.start()).model)
    const summariser = injectedText(
      (await compacted.send('PreCompact', { trigger: 'auto' })).printed,
    )
    const afterCompaction = injectedText((await compacted.start('compact')).model)
    return { start, summariser, afterCompaction, ...(await fillContext(conversation())) }
  })
}

async function fillContext(
  agent: Agent,
): Promise<Pick<Given, 'smartZone' | 'stages' | 'reminder' | 'ordinarily'>> {
  agent.received(injectedText((await agent.start()).model))
  useTool(agent, 20_000)
  const ordinary = [
    await agent.prompt('Look at the sweeper code'),
    await agent.run('ls'),
    await agent.edit('src/pay/pay.ts'),
    await agent.stop('Looked.'),
  ]
  useTool(agent, 120_000)
  const smartZone = injectedText((await agent.run('ls')).model)
  const stages = []
  for (const percent of [75, 85, 90]) {
    useTool(agent, Math.ceil((COMPACTS_AT * percent) / 100))
    stages.push({ percent, text: injectedText((await agent.run('ls')).model) })
  }
  for (let edits = 2; edits < UNLOGGED_EDITS; edits += 1) await agent.edit('src/pay/pay.ts')
  const reminder = injectedText((await agent.edit('src/pay/pay.ts')).model)
  return {
    smartZone,
    stages,
    reminder,
    ordinarily: ordinary.map(({ printed }) => printed).join(''),
  }
}

/** A failed hook injects nothing, which would look like a saving. */
function injectedText(text: string): string {
  if (text === '') throw new Error('a hook said nothing where it has something to say')
  return text
}

let calls = 0

/** The model reports its context size. */
function useTool(agent: Agent, tokens: number): void {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 90,
    cache_read_input_tokens: tokens - 120,
    output_tokens: 20,
  }
  const message = {
    id: `m${(calls += 1)}`,
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    usage,
  }
  agent.write({ type: 'assistant', message })
}

/** A conversation of a real client with a scripted model: its tokens, and those injected into the next one. */
export async function recordedConversation(): Promise<{
  readonly said: string
  readonly start: string
}> {
  return withProject('main', async (world, conversation) => {
    const here = (name: Parameters<typeof recorded>[0]) =>
      recorded(name).toString('utf8').replaceAll('/home/dev/project', world.root).trim().split('\n')
    const lines = here('claude-2.1.325.jsonl')
    const compaction = lines.findIndex((line) => line.includes('"subtype":"compact_boundary"'))
    const events = here('claude-events.jsonl').map(
      (line) => JSON.parse(line) as Record<string, string>,
    )
    const [first, ...others] = events.slice(
      0,
      events.findIndex(({ hook_event_name }) => hook_event_name === 'SessionEnd') + 1,
    )
    const agent = conversation(first!['session_id'])
    agent.isFollowed = true
    const replay = ({
      hook_event_name,
      session_id: _id,
      transcript_path: _path,
      cwd: _cwd,
      ...fields
    }: Record<string, string>) => agent.send(hook_event_name!, fields)
    await replay(first!)
    appendFileSync(agent.transcript, `${lines.slice(0, compaction).join('\n')}\n`)
    for (const event of others) await replay(event)
    const said = recorded('claude-2.1.325.jsonl')
      .toString('utf8')
      .split('\n')
      .slice(0, compaction)
      .flatMap(messageTexts)
      .join('\n')
    // The folder differs each time, and the marker with it.
    const start = injectedText((await conversation().start()).model)
      .replaceAll(world.root, '/home/dev/project')
      .replace(/\[stint:\w+\]/, '[stint:00000000]')
    return { said, start }
  })
}

/** The text that a transcript line adds to the context. */
function messageTexts(line: string): readonly string[] {
  const { type, message } = JSON.parse(line) as { type: string; message?: { content: unknown } }
  return type === 'user' || type === 'assistant' ? [textOf(message?.content)] : []
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .filter(([key]) => !['type', 'id', 'tool_use_id'].includes(key))
    .map(([, each]) => textOf(each))
    .join('\n')
}

/** A repository without a commit, whose id would differ each time. */
async function withProject<T>(
  branch: string,
  work: (world: World, conversation: (id?: string) => Agent) => Promise<T>,
): Promise<T> {
  const folder = temporaryFolder()
  try {
    const world = new World(join(folder, 'project'))
    initRepository(world.root)
    git(world.root, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`)
    // Variables of the surrounding conversation must not apply.
    const env = { PATH: process.env['PATH'], HOME: folder, STINT_STATE_HOME: join(folder, 'state') }
    const conversation = (id?: string) => {
      const agent = new Agent(world.root, join(folder, 'transcripts'), env, id)
      // Background programs inject nothing.
      agent.isFollowed = false
      return agent
    }
    return await work(world, conversation)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
