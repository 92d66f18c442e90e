// The shown state of a prompt: a fold over its events. Events come live and are requested again after a reload or a lost connection, so
// they may repeat or be missing; their numbers make each count once and in order.
import type {
  Gauge,
  PermissionRequest,
  PromptEnd,
  PromptEvent,
  Spend,
} from '../../src/serve/contract.ts'
import { defined } from '../../src/text/defined.ts'

export type AnswerBlock =
  /** Until `isComplete` it grows. */
  | { readonly type: 'text'; readonly text: string; readonly isComplete: boolean }
  | {
      readonly type: 'tool'
      readonly id: string
      readonly name: string
      readonly status: 'started' | 'completed' | 'failed'
      readonly command?: string
      readonly path?: string
      readonly output?: string
    }
  | {
      readonly type: 'permission'
      readonly request: string
      readonly permission: PermissionRequest
      /** Undefined while it is open. */
      readonly isAllowed?: boolean
    }
  | {
      readonly type: 'note'
      readonly kind: 'stage' | 'compaction' | 'limit' | 'said'
      readonly text: string
    }

export interface PromptState {
  /** The number of the last applied event. */
  readonly last: number
  /** Events that came too early, by number. */
  readonly early: ReadonlyMap<number, PromptEvent>
  readonly blocks: readonly AnswerBlock[]
  readonly session?: string
  readonly name?: string
  readonly harness?: string
  readonly model?: string
  readonly conversation?: string
  readonly gauge?: Gauge
  readonly spend?: Spend
  readonly ended?: PromptEnd
}

export const INITIAL_PROMPT_STATE: PromptState = { last: 0, early: new Map(), blocks: [] }

/** Events are missing and must be requested. */
export function hasGap(state: PromptState): boolean {
  return state.early.size > 0
}

export function applyEvents(state: PromptState, events: readonly PromptEvent[]): PromptState {
  const early = new Map(state.early)
  for (const event of events) if (event.number > state.last) early.set(event.number, event)
  let now = state
  for (let next = early.get(now.last + 1); next !== undefined; next = early.get(now.last + 1)) {
    early.delete(next.number)
    now = { ...fold(now, next), last: next.number }
  }
  return now === state && early.size === state.early.size ? state : { ...now, early }
}

export function openPermissions(
  state: PromptState,
): readonly Extract<AnswerBlock, { readonly type: 'permission' }>[] {
  if (state.ended !== undefined) return []
  return state.blocks
    .filter((block) => block.type === 'permission')
    .filter(({ isAllowed }) => isAllowed === undefined)
}

function fold(state: PromptState, event: PromptEvent): PromptState {
  const add = (block: AnswerBlock): PromptState => ({ ...state, blocks: [...state.blocks, block] })
  switch (event.kind) {
    case 'prompt.started':
      return {
        ...state,
        session: event.data.session,
        name: event.data.name,
        harness: event.data.harness,
      }
    case 'conversation.started':
      return {
        ...state,
        conversation: event.data.conversation,
        ...defined({ model: event.data.model }),
      }
    case 'delta': {
      const open = growingText(state)
      if (open === undefined) return add({ type: 'text', text: event.data.text, isComplete: false })
      return replaceBlock(state, open.at, {
        type: 'text',
        text: open.text + event.data.text,
        isComplete: false,
      })
    }
    case 'anew': {
      const open = growingText(state)
      return open === undefined ? state : { ...state, blocks: state.blocks.toSpliced(open.at, 1) }
    }
    case 'text': {
      const open = growingText(state)
      const complete: AnswerBlock = { type: 'text', text: event.data.text, isComplete: true }
      return open === undefined ? add(complete) : replaceBlock(state, open.at, complete)
    }
    case 'tool': {
      const { id, name, status, command, path, output } = event.data
      const at = state.blocks.findLastIndex((block) => block.type === 'tool' && block.id === id)
      const before = state.blocks[at]
      const details = {
        ...defined({ command, path, output }),
      }
      if (before?.type !== 'tool') return add({ type: 'tool', id, name, status, ...details })
      return replaceBlock(state, at, {
        ...before,
        name: name === '' ? before.name : name,
        status,
        ...details,
      })
    }
    case 'permission.asked':
      return add({
        type: 'permission',
        request: event.data.request,
        permission: event.data.permission,
      })
    case 'permission.settled': {
      const at = state.blocks.findLastIndex(
        (block) => block.type === 'permission' && block.request === event.data.request,
      )
      const before = state.blocks[at]
      return before?.type === 'permission'
        ? replaceBlock(state, at, { ...before, isAllowed: event.data.isAllowed })
        : state
    }
    case 'usage':
      return { ...state, gauge: event.data.gauge, spend: event.data.spend }
    case 'stage': {
      const text =
        event.data.stage === 'smart-zone'
          ? 'Past the smart zone: the model no longer reads everything with its whole attention.'
          : `${event.data.stage}% of the way to the compaction point.`
      return { ...add({ type: 'note', kind: 'stage', text }), gauge: event.data.gauge }
    }
    case 'context.compacted': {
      const before =
        event.data.tokensBefore === undefined
          ? ''
          : ` at ${event.data.tokensBefore.toLocaleString('en')} tokens`
      return add({
        type: 'note',
        kind: 'compaction',
        text: `The conversation was compacted${before}.`,
      })
    }
    case 'limit.reached': {
      const until = event.data.resetsAt === undefined ? '' : ` It ends at ${event.data.resetsAt}.`
      return add({ type: 'note', kind: 'limit', text: `${event.data.message}${until}` })
    }
    case 'message':
      return add({ type: 'note', kind: 'said', text: event.data.text })
    case 'prompt.ended':
      return { ...state, ended: event.data, spend: event.data.spend }
    default:
      // A newer server may send kinds that this page does not know.
      return state
  }
}

/** The message that is still growing. Other blocks may follow it already: its end is reported after the tools it started. */
function growingText(
  state: PromptState,
): { readonly at: number; readonly text: string } | undefined {
  const at = state.blocks.findLastIndex((block) => block.type === 'text' && !block.isComplete)
  const block = state.blocks[at]
  return block?.type === 'text' ? { at, text: block.text } : undefined
}

function replaceBlock(state: PromptState, at: number, block: AnswerBlock): PromptState {
  return { ...state, blocks: state.blocks.with(at, block) }
}
