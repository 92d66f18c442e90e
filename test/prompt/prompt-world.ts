// A project with a scripted agent to prompt: real processes and real git, no model.
import { onTestFinished } from 'vitest'
import { Workspace } from '../../src/project/store/workspace.ts'
import type {
  PromptEnd,
  PromptEvent,
  PromptEventKind,
  PromptHandle,
  PromptRequest,
} from '../../src/run/prompt/prompt-events.ts'
import { startPrompt } from '../../src/run/prompt/start-prompt.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { type World, gitProject } from '../support/project.ts'
import { serveScriptedAgent } from '../support/scripted-agent.ts'

type Act = Readonly<Record<string, unknown>>

export class PromptWorld {
  events: PromptEvent[] = []

  onEvent: (event: PromptEvent, handle: () => PromptHandle) => void = () => {}

  constructor(readonly project: World = gitProject()) {
    serveScriptedAgent()
  }

  /** The agent's script, one item per prompt; the last applies to all that follow. */
  script(...turns: readonly (readonly Act[])[]): string {
    this.project.write('.sessions/script.json', JSON.stringify({ default: turns }))
    return this.project.path('.sessions', 'script.json')
  }

  async start(text: string, request: Partial<PromptRequest> = {}): Promise<PromptHandle> {
    const workspace = new Workspace(this.project.root, {
      say: (line) => this.project.messages.push(line),
      env: process.env,
    })
    onTestFinished(() => workspace.close())
    this.events = []
    let handle: PromptHandle | undefined
    const onEvent = (event: PromptEvent) => {
      this.events.push(event)
      this.onEvent(event, () => handle!)
    }
    const script = this.project.path('.sessions', 'script.json')
    return (handle = await startPrompt(
      workspace,
      { text, harness: 'rehearsal', script, ...request },
      onEvent,
    ))
  }

  async prompt(text: string, request: Partial<PromptRequest> = {}): Promise<PromptEnd> {
    const handle = await this.start(text, request)
    const ended = await handle.ended
    await expectNoneLeft(`STINT_PROMPT=${handle.id}`)
    return ended
  }

  /** The data of the events of a kind. */
  of<K extends PromptEventKind>(kind: K): readonly PromptEvent<K>['data'][] {
    return this.events.flatMap((event) =>
      event.kind === kind ? [event.data as PromptEvent<K>['data']] : [],
    )
  }

  /** The text of all events of a kind. */
  texts(kind: 'text' | 'delta' | 'message'): string {
    return this.of(kind)
      .map(({ text }) => text)
      .join('')
  }

  /** A second user of the same project. */
  beside(): PromptWorld {
    return new PromptWorld(this.project)
  }
}
