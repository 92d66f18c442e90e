import type { HistoryItem, Message, Part } from '../../../history/items.ts'
import type { Usage } from '../../../session/entries.ts'
import { type Json, countOf, nameOf, objectOf, textOf } from '../../../text/json-fields.ts'
import { pictureAt } from '../../contract/history-files.ts'
import { defined } from '../../../text/defined.ts'

export interface StoredMessage {
  readonly id: string
  readonly at: number
  readonly message: Json
  readonly parts: readonly (Json & { readonly id: string })[]
  readonly agent?: string
}

/** A tool's result shares a part with its use and becomes a message of its own. */
export function itemsOf(stored: StoredMessage): readonly HistoryItem[] {
  const { id, message, parts } = stored
  const common = {
    type: 'message',
    at: new Date(stored.at).toISOString(),
    ...defined({ agent: stored.agent }),
  } as const
  const compaction = parts.find((part) => part['type'] === 'compaction')
  if (compaction !== undefined) {
    return [
      {
        type: 'compaction',
        id,
        at: common.at,
        trigger: compaction['auto'] === false ? 'manual' : 'auto',
      },
    ]
  }
  if (message['role'] === 'assistant') return saidByModel(stored, common)
  const said = parts.flatMap(partOf)
  if (said.length === 0) return []
  const isMeta = parts.every((part) => part['synthetic'] === true)
  return [{ ...common, id, role: 'user', parts: said, ...(isMeta ? { isMeta } : {}) }]
}

export function messageOf(item: string): string | undefined {
  return /^(msg_[^-]+)(?:-|$)/.exec(item)?.[1]
}

type Common = Pick<Message, 'type' | 'at' | 'agent'>

function saidByModel(
  { id, message, parts }: StoredMessage,
  common: Common,
): readonly HistoryItem[] {
  const isSummary = message['summary'] === true || undefined
  const shared = {
    ...common,
    role: 'assistant',
    ...defined({ model: nameOf(message['modelID']), isSummary }),
  } as const
  const items: HistoryItem[] = []
  // One step is one request; older versions have several in a message.
  for (const [number, step] of stepsOf(parts).entries()) {
    const name = number === 0 ? id : `${id}-${number}`
    const finish = step.find((part) => part['type'] === 'step-finish')
    const usage = usageOf(
      objectOf(finish?.['tokens']) ?? (number === 0 ? objectOf(message['tokens']) : undefined),
    )
    const said = step.flatMap(partOf)
    if (said.length > 0)
      items.push({ ...shared, id: name, request: name, parts: said, ...defined({ usage }) })
    const results = step.flatMap(resultOf)
    if (results.length > 0)
      items.push({ ...common, id: `${name}-results`, role: 'user', parts: results })
  }
  const failure = objectOf(message['error'])
  if (failure === undefined) return items
  const text = textOf(objectOf(failure['data'])?.['message']) ?? nameOf(failure['name']) ?? 'failed'
  if (failure['name'] === 'MessageAbortedError')
    return [...items, { type: 'ended', at: common.at!, reason: 'interrupted' }]
  return [
    ...items,
    {
      ...common,
      id: `${id}-failure`,
      role: 'assistant',
      parts: [{ type: 'text', text }],
      isFailure: true,
    },
  ]
}

function stepsOf<T extends Json>(parts: readonly T[]): readonly (readonly T[])[] {
  const steps: T[][] = [[]]
  for (const part of parts) {
    if (part['type'] === 'step-start' && steps.at(-1)!.some(({ type }) => type === 'step-finish'))
      steps.push([])
    steps.at(-1)!.push(part)
  }
  return steps
}

const SILENT = new Set(['step-start', 'step-finish', 'snapshot', 'patch', 'retry', 'agent'])

function partOf(part: Json): readonly Part[] {
  const { type, text, url, mime } = part
  if (type === 'text' || type === 'reasoning') {
    if (typeof text !== 'string' || text === '' || part['ignored'] === true) return []
    return [{ type: type === 'text' ? 'text' : 'thinking', text }]
  }
  if (
    type === 'file' &&
    typeof url === 'string' &&
    typeof mime === 'string' &&
    mime.startsWith('image/')
  )
    return [pictureAt(url)]
  if (type === 'tool') {
    const [id, name] = [nameOf(part['callID']), nameOf(part['tool'], 1000)]
    const state = objectOf(part['state'])
    if (id !== undefined && name !== undefined)
      return [{ type: 'tool use', id, name, input: objectOf(state?.['input']) ?? {} }]
  }
  return typeof type === 'string' && SILENT.has(type) ? [] : [{ type: 'other', block: part }]
}

function resultOf(part: Json): readonly Part[] {
  const state = objectOf(part['state'])
  const use = nameOf(part['callID'])
  if (part['type'] !== 'tool' || use === undefined || state === undefined) return []
  const { status, output, error } = state
  if (status !== 'completed' && status !== 'error') return []
  const isError = status === 'error'
  const text = isError ? error : output
  return [
    {
      type: 'tool result',
      use,
      parts: typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [],
      isError,
    },
  ]
}

function usageOf(tokens: Json | undefined): Usage | undefined {
  const input = countOf(tokens?.['input'])
  if (tokens === undefined || input === undefined) return undefined
  const cache = objectOf(tokens['cache'])
  const output = (countOf(tokens['output']) ?? 0) + (countOf(tokens['reasoning']) ?? 0)
  return {
    input,
    cacheWritten: countOf(cache?.['write']) ?? 0,
    cacheRead: countOf(cache?.['read']) ?? 0,
    output,
  }
}
