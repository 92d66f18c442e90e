// One turn: asked, answered, tools used, asked again, until the model has nothing more to do. Everything is stored before it is
// acted upon, and every request is built from what is stored.
import { randomHex } from '../../../journal/random.ts'
import type { Part } from '../../../history/items.ts'
import type { HarnessEvent, OpenConversation, TurnEnded } from '../../contract/drive.ts'
import { type ApiHistory, type StoredContext, toolResult, toolUses } from './api-history.ts'
import { askModel } from './ask-model.ts'
import { contextTokens, tokensOf } from './context-size.ts'
import { ModelFailure, fullContext } from './model-failure.ts'
import type { Reply, Stop } from './reply.ts'
import type { ApiSettings } from './settings.ts'
import { TOOLS } from './tools/definitions.ts'
import type { ToolProgram } from './tools/tool-program.ts'
import { useTool } from './use-tools.ts'
import type { Room } from './window.ts'
import { defined } from '../../../text/defined.ts'

export interface TurnWork {
  readonly settings: ApiSettings
  readonly model: string
  readonly room: Room
  readonly key: string | undefined
  readonly waits?: readonly number[]
  readonly history: ApiHistory
  readonly program: ToolProgram
  readonly options: OpenConversation
  readonly tell: (event: HarnessEvent) => void
  /** Aborted when the turn is to end, or the program has ended. */
  readonly signal: AbortSignal
}

/** Takes a turn to its end. */
export async function takeTurn(prompt: string, work: TurnWork): Promise<TurnEnded> {
  const { history, tell, signal } = work
  history.say({ role: 'user', parts: [{ type: 'text', text: prompt.toWellFormed() }] })
  let said: string | undefined
  try {
    for (;;) {
      const context = history.read()
      const reply = await answerTo(context, work)
      const text = textIn(reply.parts)
      if (text !== undefined) tell({ type: 'text', text })
      said = text ?? said
      tellUsage(reply, context, work)
      if (signal.aborted) return { type: 'turn ended', how: 'interrupted', ...defined({ said }) }
      if (reply.stop === 'full') throw fullContext('the model had no room left for its answer')
      const failure = FAILURES[reply.stop]
      if (failure !== undefined)
        return { type: 'turn ended', how: 'failed', failure, ...defined({ said }) }
      const uses = toolUses(reply.parts)
      if (uses.length === 0) return { type: 'turn ended', how: 'completed', ...defined({ said }) }
      for (const use of uses) {
        const result = await useTool(use, work)
        if (result === undefined) return { type: 'turn ended', how: 'died', ...defined({ said }) }
        history.say({ role: 'user', parts: [toolResult(use.id, result.text, result.isError)] })
      }
      if (signal.aborted) return { type: 'turn ended', how: 'interrupted', ...defined({ said }) }
    }
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    // For whoever reads it later; the model is not told.
    history.say({
      role: 'assistant',
      parts: [{ type: 'text', text: error.message }],
      isFailure: true,
    })
    if (error.at.isFull === true) tellFull(work)
    if (error.kind === 'limit')
      tell({ type: 'limit', message: error.message, ...defined({ resetsAt: error.at.resetsAt }) })
    return { type: 'turn ended', how: 'failed', failure: error.message, ...defined({ said }) }
  }
}

const FAILURES: Readonly<Partial<Record<Stop, string>>> = {
  length: 'the answer became longer than the model may give; max_output sets how long it may be',
  refused: 'the model refused to go on',
}

/** Asks the model and stores what it said: all of it, or as much as was said when the turn was ended. */
async function answerTo({ system, items, live }: StoredContext, work: TurnWork): Promise<Reply> {
  const { settings, model, room, key, waits, history, options, tell, signal } = work
  const tokens = contextTokens(live)
  if (room.point !== undefined && tokens > room.point) {
    throw fullContext(
      `it has about ${tokens} tokens, and beyond ${room.point} of ${room.window} there is no room for an answer`,
    )
  }
  const reply = await askModel(
    { settings, model, maxOutput: room.maxOutput, system, items, tools: TOOLS },
    {
      key,
      delta: (text) => tell({ type: 'delta', text }),
      anew: () => tell({ type: 'anew' }),
      trace: (direction, line) => options.trace?.(direction, line),
      signal,
      ...defined({ waits }),
    },
  )
  // The uses of tools in an answer that did not come to its end would never be answered.
  const isWhole = reply.stop === 'end' || reply.stop === 'tools'
  const parts = withOwnIds(
    isWhole ? reply.parts : reply.parts.filter(({ type }) => type === 'text'),
    live,
  )
  if (parts.length > 0) {
    // Some servers call every answer the same, and what shares a name is taken for one answer.
    const request = live.some((message) => message.request === reply.request)
      ? undefined
      : reply.request
    history.say({
      role: 'assistant',
      parts,
      model: reply.model ?? model,
      ...defined({ usage: reply.usage, request }),
    })
  }
  return { ...reply, parts }
}

/** Some servers count the uses of tools from the beginning in each answer. */
function withOwnIds(parts: readonly Part[], live: StoredContext['live']): readonly Part[] {
  const taken = new Set(live.flatMap((message) => toolUses(message.parts)).map(({ id }) => id))
  return parts.map((part) => {
    if (part.type !== 'tool use') return part
    const id = taken.has(part.id) ? `${part.id}_${randomHex(4)}` : part.id
    taken.add(id)
    return { ...part, id }
  })
}

function tellUsage(
  { usage, parts, model }: Reply,
  { live }: StoredContext,
  { room, tell, ...work }: TurnWork,
): void {
  if (usage === undefined && parts.length === 0) return
  // Where a server counts nothing, an estimate tells whether the context fills up.
  const context =
    usage === undefined
      ? contextTokens([...live, { type: 'message', id: '', role: 'assistant', parts }])
      : tokensOf(usage)
  tell({
    type: 'usage',
    context,
    model: model ?? work.model,
    ...defined({ spent: usage, window: room.window, point: room.point }),
  })
}

/** What came since the last answer may have filled it up at once, and whoever hands over has to know. */
function tellFull({ room: { window, point }, model, tell }: TurnWork): void {
  if (window !== undefined)
    tell({ type: 'usage', context: window, window, model, ...defined({ point }) })
}

function textIn(parts: readonly Part[]): string | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === 0 ? undefined : texts.join('\n')
}
