import { dirname, join } from 'node:path'
import { estimateTokens } from '../../src/text/tokens.ts'
import {
  appendLine,
  createFolderUnsynced,
  replaceProjectFile,
} from '../../src/journal/write-files.ts'
import type { Project } from './project.ts'

/**
 * One conversation of a simulated harness: it sends each event to the registered hooks and writes a
 * transcript.
 */
export class Agent {
  /** Texts injected by hooks, in order. */
  readonly injected: string[] = []
  tokens = 0
  commands = 0
  readonly #project: Project
  readonly #conversation: string
  readonly #transcript: string
  #lines = 0

  constructor(project: Project, number: number) {
    this.#project = project
    this.#conversation = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
    this.#transcript = join(project.transcripts, `${this.#conversation}.jsonl`)
  }

  starts(): Promise<void> {
    return this.#tell('SessionStart', { source: 'startup' })
  }

  async hears(prompt: string): Promise<void> {
    await this.#tell('UserPromptSubmit', { prompt })
    this.#write({ type: 'user', message: { role: 'user', content: prompt } })
  }

  /** Really edits a file and sends the event. */
  async edits(path: string, content: string): Promise<void> {
    const file_path = join(this.#project.root, path)
    createFolderUnsynced(dirname(file_path))
    replaceProjectFile(file_path, content)
    await this.#usesTool(
      'Edit',
      { file_path, old_string: 'a', new_string: 'b' },
      { filePath: file_path },
    )
  }

  async commits(subject: string): Promise<void> {
    this.#project.git('add', '--all')
    const stdout = this.#project.git('commit', '--quiet', '--message', subject)
    await this.#usesTool(
      'Bash',
      { command: `git add --all && git commit -m '${subject}'` },
      { stdout, stderr: '' },
    )
  }

  /** Runs a stint command. The command and its output stay in the context. */
  async runs(...args: readonly string[]): Promise<void> {
    const stdout = await this.#project.stint(args)
    const command = [
      'stint',
      ...args.map((arg) => (/^[\w./-]+$/.test(arg) ? arg : `'${arg}'`)),
    ].join(' ')
    this.tokens += estimateTokens(command) + estimateTokens(stdout)
    this.commands += 1
    await this.#usesTool('Bash', { command }, { stdout, stderr: '' })
  }

  async stops(said: string): Promise<void> {
    this.#answers(said)
    await this.#tell('Stop', { stop_hook_active: false, last_assistant_message: said })
  }

  ends(): Promise<void> {
    return this.#tell('SessionEnd', { reason: 'other' })
  }

  async #usesTool(tool_name: string, tool_input: object, tool_response: object): Promise<void> {
    await this.#tell('PostToolUse', {
      tool_name,
      tool_input,
      tool_response,
      tool_use_id: `toolu_${this.#lines}`,
    })
    this.#answers('Done.')
  }

  async #tell(event: string, fields: object): Promise<void> {
    const about = {
      session_id: this.#conversation,
      transcript_path: this.#transcript,
      cwd: this.#project.root,
    }
    const text = await this.#project.hook(
      event,
      JSON.stringify({ ...about, hook_event_name: event, ...fields }),
    )
    if (text === '') return
    this.injected.push(text)
    this.tokens += estimateTokens(text)
    this.#write({
      type: 'attachment',
      attachment: { type: 'hook_additional_context', content: [text], hookEvent: event },
    })
  }

  #answers(text: string): void {
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
    this.#write({ type: 'assistant', message })
  }

  #write(line: object): void {
    this.#lines += 1
    const about = {
      uuid: `${this.#conversation}-${this.#lines}`,
      timestamp: new Date().toISOString(),
      isSidechain: false,
    }
    appendLine(this.#transcript, JSON.stringify({ ...about, ...line }))
  }
}
