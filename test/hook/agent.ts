import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { hookGroups } from '../../src/harness/claude/setup/settings.ts'
import { runAfterEvent } from '../../src/hook/after-event.ts'
import { refreshViews } from '../../src/project/store/refresh-views.ts'
import { serveHook } from '../../src/hook/serve-hook.ts'
import { readLog } from '../../src/journal/read-log.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'
import { program, terminal } from '../support/cli.ts'

/** The parsed response of a hook. */
export interface HookResult {
  readonly person: string
  readonly model: string
  readonly printed: string
}

const EVENTS_WITH_BACKGROUND_HOOK = new Set(
  [...hookGroups({ notify: false })].flatMap(([event, { hooks }]) =>
    hooks.length > 1 ? [event] : [],
  ),
)

let conversations = 0

/** A project with an agent that sends events like a harness. */
export function project(options: { git?: boolean } = {}) {
  const world = terminal(options)
  const sessions = () => {
    const folder = join(world.cwd, '.sessions', 'journal')
    return existsSync(folder) ? readdirSync(folder).toSorted() : []
  }
  const entries = (session = sessions()[0]): readonly RawEntry[] =>
    session === undefined
      ? []
      : readLog(join(world.cwd, '.sessions', 'journal', session, 'log.jsonl')).records
  const notes = join(world.cwd, '.git', 'stint', 'conversations')
  const agent = (env: NodeJS.ProcessEnv = {}) =>
    new Agent(world.cwd, join(world.folder, 'transcripts'), { ...world.env, ...env })
  return {
    ...world,
    sessions,
    entries,
    notes,
    ofKind: (kind: string, session?: string) =>
      entries(session).flatMap((entry) => (entry.kind === kind ? [entry.data] : [])),
    path: (...parts: readonly string[]) => join(world.cwd, ...parts),
    hookErrors: () =>
      existsSync(join(notes, 'troubles.jsonl'))
        ? readFileSync(join(notes, 'troubles.jsonl'), 'utf8')
        : '',
    agent,
    another: agent,
  }
}

/** After one turn everything is recorded and precomputed. */
export async function projectAfterOneTurn({
  key,
  edits = true,
}: { key?: string; edits?: boolean } = {}) {
  const world = project()
  await world.stint('init', '--name', 'there', '--goal', 'Be there')
  if (key !== undefined) await world.stint('log', '--key', key)
  const agent = world.agent()
  agent.received((await agent.start()).model)
  agent.answers()
  await agent.prompt('Change the known file')
  if (edits) await agent.edit('known.ts')
  agent.answers('Changed.')
  await agent.stop('Changed.')
  return { ...world, agent }
}

/** One conversation of a harness, with its transcript. */
export class Agent {
  readonly transcript: string
  /** Whether background hooks run: a harness kills them when it exits. */
  isFollowed = true
  #lines = 0

  constructor(
    readonly cwd: string,
    folder: string,
    readonly env: NodeJS.ProcessEnv,
    readonly conversation = `00000000-0000-4000-8000-${String((conversations += 1)).padStart(12, '0')}`,
  ) {
    mkdirSync(folder, { recursive: true })
    this.transcript = join(folder, `${conversation}.jsonl`)
  }

  async send(event: string, fields: Readonly<Record<string, unknown>> = {}): Promise<HookResult> {
    const { conversation: session_id, transcript: transcript_path, cwd } = this
    const input = JSON.stringify({
      session_id,
      transcript_path,
      cwd,
      hook_event_name: event,
      ...fields,
    })
    const printed = await serveHook(input, this.env, refreshViews)
    // A harness runs both registered hooks.
    if (this.isFollowed && EVENTS_WITH_BACKGROUND_HOOK.has(event))
      await runAfterEvent(input, this.env, program)
    const isJson = printed.startsWith('{')
    const answer = isJson
      ? (JSON.parse(printed) as {
          systemMessage?: string
          hookSpecificOutput?: { additionalContext?: string }
        })
      : {}
    return {
      printed,
      person: answer.systemMessage ?? '',
      model: answer.hookSpecificOutput?.additionalContext ?? '',
    }
  }

  start(source = 'startup') {
    return this.send('SessionStart', { source })
  }

  prompt(prompt: string) {
    return this.send('UserPromptSubmit', { prompt })
  }

  edit(path: string) {
    return this.send('PostToolUse', {
      tool_name: 'Edit',
      tool_input: { file_path: join(this.cwd, path), old_string: 'a', new_string: 'b' },
      tool_response: { filePath: join(this.cwd, path) },
    })
  }

  run(command: string, stdout = '', id = `toolu_${this.#lines}_${command.length}`) {
    return this.send('PostToolUse', {
      tool_name: 'Bash',
      tool_input: { command },
      tool_response: { stdout, stderr: '', interrupted: false },
      tool_use_id: id,
    })
  }

  stop(said: string) {
    return this.send('Stop', { stop_hook_active: false, last_assistant_message: said })
  }

  end(reason = 'other') {
    return this.send('SessionEnd', { reason })
  }

  write(...lines: readonly Readonly<Record<string, unknown>>[]): void {
    for (const line of lines) {
      this.#lines += 1
      const full = {
        uuid: `${this.conversation}-${this.#lines}`,
        timestamp: new Date().toISOString(),
        isSidechain: false,
        ...line,
      }
      appendFileSync(this.transcript, `${JSON.stringify(full)}\n`)
    }
  }

  answers(text = 'ok'): void {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 200,
      output_tokens: 30,
    }
    const message = {
      id: `msg_${this.#lines}`,
      role: 'assistant',
      model: 'some-model',
      content: [{ type: 'text', text }],
      usage,
    }
    this.write({ type: 'assistant', message })
  }

  /** The harness recorded the injected context. */
  received(text: string, event = 'SessionStart'): void {
    this.write({
      type: 'attachment',
      attachment: { type: 'hook_additional_context', content: [text], hookEvent: event },
    })
  }

  compacts(trigger = 'auto', summary = 'What was said before.'): void {
    this.write({
      type: 'system',
      subtype: 'compact_boundary',
      compactMetadata: { trigger, preTokens: 167_000 },
    })
    this.write({
      type: 'user',
      isCompactSummary: true,
      message: { role: 'user', content: summary },
    })
  }
}
