// What is shown of a prompt: a fold over its events. They come live and are asked for again after a reload or a lost connection, so the
// same may come twice and some may be missing; by their numbers each counts once and in order.
import type {
  Gauge,
  PermissionRequest,
  PromptEnd,
  PromptEvent,
  Spend,
} from '../../src/serve/contract.ts'
import { defined } from '../../src/text/defined.ts'

export type AnswerBlock =
  /** `isWhole`: its end has come; until then it grows. */
  | { readonly type: 'text'; readonly text: string; readonly isWhole: boolean }
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
      /** Absent while it waits for somebody. */
      readonly isAllowed?: boolean
    }
  | {
      readonly type: 'note'
      readonly kind: 'stage' | 'compaction' | 'limit' | 'said'
      readonly text: string
    }

export type Ending = PromptEnd

export interface PromptState {
  /** The number of the last event that counts; the next one is one more. */
  readonly last: number
  /** What came too early, by its number. */
  readonly early: ReadonlyMap<number, PromptEvent>
  readonly blocks: readonly AnswerBlock[]
  readonly session?: string
  readonly name?: string
  readonly harness?: string
  readonly model?: string
  readonly conversation?: string
  readonly gauge?: Gauge
  readonly spend?: Spend
  readonly ended?: Ending
}

export const INITIAL_PROMPT_STATE: PromptState = { last: 0, early: new Map(), blocks: [] }

/** Something between is missing: it has to be asked for. */
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

/** Those that wait for somebody's word. */
export function openPermissions(
  state: PromptState,
): readonly Extract<AnswerBlock, { readonly type: 'permission' }>[] {
  if (state.ended !== undefined) return []
  return state.blocks
    .filter((piece) => piece.type === 'permission')
    .filter(({ isAllowed }) => isAllowed === undefined)
}

function fold(state: PromptState, event: PromptEvent): PromptState {
  const add = (piece: AnswerBlock): PromptState => ({ ...state, blocks: [...state.blocks, piece] })
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
      const open = growing(state)
      if (open === undefined) return add({ type: 'text', text: event.data.text, isWhole: false })
      return exchange(state, open.at, {
        type: 'text',
        text: open.text + event.data.text,
        isWhole: false,
      })
    }
    case 'anew': {
      const open = growing(state)
      return open === undefined ? state : { ...state, blocks: state.blocks.toSpliced(open.at, 1) }
    }
    case 'text': {
      const open = growing(state)
      const whole: AnswerBlock = { type: 'text', text: event.data.text, isWhole: true }
      return open === undefined ? add(whole) : exchange(state, open.at, whole)
    }
    case 'tool': {
      const { id, name, status, command, path, output } = event.data
      const at = state.blocks.findLastIndex((piece) => piece.type === 'tool' && piece.id === id)
      const before = state.blocks[at]
      const told = {
        ...defined({ command, path, output }),
      }
      if (before?.type !== 'tool') return add({ type: 'tool', id, name, status, ...told })
      return exchange(state, at, {
        ...before,
        name: name === '' ? before.name : name,
        status,
        ...told,
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
        (piece) => piece.type === 'permission' && piece.request === event.data.request,
      )
      const before = state.blocks[at]
      return before?.type === 'permission'
        ? exchange(state, at, { ...before, isAllowed: event.data.isAllowed })
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
      // A newer server may tell more than this page knows.
      return state
  }
}

/** The message that is being written. Others may stand behind it already: its end is told later than what it led to. */
function growing(state: PromptState): { readonly at: number; readonly text: string } | undefined {
  const at = state.blocks.findLastIndex((piece) => piece.type === 'text' && !piece.isWhole)
  const piece = state.blocks[at]
  return piece?.type === 'text' ? { at, text: piece.text } : undefined
}

function exchange(state: PromptState, at: number, piece: AnswerBlock): PromptState {
  return { ...state, blocks: state.blocks.with(at, piece) }
}
