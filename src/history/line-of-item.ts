import type { Usage } from '../session/entries.ts'
import { type Json } from '../text/json-fields.ts'
import { blocksOf } from './blocks.ts'
import type { Compaction, HistoryItem, Message } from './items.ts'
import { defined } from '../text/defined.ts'

/** The field names are those of Claude Code's transcripts. */
export function lineOf(item: HistoryItem): Json {
  switch (item.type) {
    case 'began':
      return { ...item, type: 'conversation' }
    case 'message':
      return messageLine(item, messageOf(item))
    case 'compaction':
      return compactionLine(item)
    case 'taken back':
      return defined({ type: 'taken-back', uuid: item.id, timestamp: item.at, from: item.from })
    case 'ended':
      return { ...item }
  }
}

export function messageLine(item: Message, message: Json): Json {
  const { id, parent, at, role, asTold, context, agent } = item
  return defined({
    type: role,
    subtype: role === 'system' ? 'message' : undefined,
    uuid: id,
    parentUuid: parent,
    timestamp: at,
    isSidechain: agent === undefined ? undefined : true,
    agentId: agent,
    isMeta: item.isMeta,
    isCompactSummary: item.isSummary,
    isApiErrorMessage: item.isFailure,
    context: context === undefined ? undefined : { ...context },
    asTold:
      asTold === undefined ? undefined : { role: asTold.role, content: blocksOf(asTold.parts) },
    message,
  })
}

function messageOf({ role, parts, model, request, usage }: Message) {
  return defined({
    role,
    id: request,
    model,
    content: blocksOf(parts),
    usage: usage === undefined ? undefined : usageFields(usage),
  })
}

function usageFields({ input, cacheWritten, cacheRead, output }: Usage) {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  }
}

function compactionLine({ id, at, trigger, tokensBefore, tokensAfter, kept }: Compaction) {
  return defined({
    type: 'system',
    subtype: 'compact_boundary',
    uuid: id,
    timestamp: at,
    compactMetadata: defined({
      trigger,
      preTokens: tokensBefore,
      postTokens: tokensAfter,
      preservedMessages: kept === undefined ? undefined : { uuids: kept },
    }),
  })
}
