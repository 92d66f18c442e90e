import type { Usage } from '../session/entries.ts'
import { type Json, countOf, listOf, nameOf, objectOf, textOf } from '../text/json-fields.ts'
import { partsOf } from './blocks.ts'
import type { Began, Compaction, ContextSize, HistoryItem, Message, Part, Told } from './items.ts'
import { defined } from '../text/defined.ts'

/** Claude Code puts this between the name of a hook and its output. */
export const SAID_BY_HOOK = ' hook additional context: '

/** Lines are of several versions and programs. */
export function itemOf(line: Json): HistoryItem | undefined {
  switch (line['type']) {
    case 'conversation':
      return beganIn(line)
    case 'user':
    case 'assistant':
      return messageIn(line, line['type'])
    case 'system':
      if (line['subtype'] === 'compact_boundary') return compactionIn(line)
      return line['subtype'] === 'message' ? messageIn(line, 'system') : undefined
    case 'attachment':
      return attachmentIn(line)
    case 'taken-back':
      return takenBackIn(line)
    case 'ended':
      return endedIn(line)
    default:
      return undefined
  }
}

function beganIn(line: Json): Began | undefined {
  const [conversation, harness, at] = [
    nameOf(line['conversation']),
    nameOf(line['harness']),
    nameOf(line['at']),
  ]
  if (conversation === undefined || harness === undefined || at === undefined) return undefined
  const more = defined({
    cwd: nameOf(line['cwd'], 4096),
    model: nameOf(line['model']),
    forkOf: nameOf(line['forkOf']),
  })
  return { type: 'began', conversation, harness, at, ...more }
}

function endedIn(line: Json): HistoryItem | undefined {
  const [at, reason] = [nameOf(line['at']), textOf(line['reason'])]
  return at === undefined || reason === undefined ? undefined : { type: 'ended', at, reason }
}

function takenBackIn(line: Json): HistoryItem | undefined {
  const id = nameOf(line['uuid'])
  const more = defined({ at: nameOf(line['timestamp']), from: nameOf(line['from']) })
  return id === undefined ? undefined : { type: 'taken back', id, ...more }
}

function messageIn(line: Json, type: Message['role']): Message | undefined {
  const message = objectOf(line['message']) ?? {}
  const parts = partsIn(line, message)
  if (parts === undefined) return undefined
  const role = message['role'] === 'system' ? 'system' : type
  return {
    ...common(line),
    role,
    parts,
    ...defined({
      // A failed message has a label in place of a model.
      model: line['isApiErrorMessage'] === true ? undefined : nameOf(message['model']),
      request: nameOf(message['id']) ?? nameOf(line['requestId']),
      usage: usageIn(objectOf(message['usage'])),
      context: contextIn(objectOf(line['context'])),
      asTold: toldIn(objectOf(line['asTold'])),
      isMeta: line['isMeta'] === true || undefined,
      isSummary: line['isCompactSummary'] === true || undefined,
      isFailure: line['isApiErrorMessage'] === true || undefined,
    }),
  }
}

function partsIn(line: Json, message: Json): readonly Part[] | undefined {
  const leftOut = textOf(line['leftOut'])
  if (leftOut !== undefined) return [{ type: 'text', text: `[left out: ${leftOut}]` }]
  const { content } = message
  return typeof content === 'string' || Array.isArray(content) ? partsOf(content) : undefined
}

export function agentIn(line: Json): string | undefined {
  return line['isSidechain'] === true ? (nameOf(line['agentId']) ?? 'agent') : undefined
}

function common(line: Json): Pick<Message, 'type' | 'id' | 'parent' | 'at' | 'agent'> {
  const agent = agentIn(line)
  return {
    type: 'message',
    id: nameOf(line['uuid']) ?? '',
    ...defined({ parent: nameOf(line['parentUuid']), at: nameOf(line['timestamp']), agent }),
  }
}

/** What a user typed while the agent worked, hook output, and context that the harness added. */
function attachmentIn(line: Json): Message | undefined {
  const attachment = objectOf(line['attachment'])
  switch (attachment?.['type']) {
    case 'queued_command': {
      const parts = partsOf(attachment['prompt'])
      const more = defined({
        asTold: renderedIn(line),
        isMeta: attachment['isMeta'] === true || undefined,
      })
      return parts.length === 0 ? undefined : { ...common(line), role: 'user', parts, ...more }
    }
    case 'hook_additional_context': {
      const text = listOf(attachment['content'])
        .filter((given) => typeof given === 'string')
        .join('\n')
      const hook = nameOf(attachment['hookName']) ?? nameOf(attachment['hookEvent'])
      const parts = partsOf(hook === undefined ? text : `${hook}${SAID_BY_HOOK}${text}`)
      return text === '' ? undefined : { ...common(line), role: 'system', parts, isMeta: true }
    }
    default:
      return toldBesides(line)
  }
}

function toldBesides(line: Json): Message | undefined {
  const told = renderedIn(line)
  return told === undefined ? undefined : { ...common(line), ...told, isMeta: true }
}

function renderedIn(line: Json): Told | undefined {
  const role = line['renderedRole'] === 'system' ? 'system' : 'user'
  const parts = listOf(line['rendered']).flatMap((shown) => partsOf(objectOf(shown)?.['content']))
  return parts.length === 0
    ? undefined
    : { role, parts: role === 'system' ? parts.map(unmarked) : parts }
}

const REMINDER = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>\s*$/

/** A system message needs no system-reminder tags. */
function unmarked(part: Part): Part {
  const text = part.type === 'text' ? REMINDER.exec(part.text)?.[1] : undefined
  return text === undefined ? part : { type: 'text', text }
}

function compactionIn(line: Json): Compaction | undefined {
  const id = nameOf(line['uuid'])
  if (id === undefined) return undefined
  const metadata = objectOf(line['compactMetadata']) ?? {}
  const kept = listOf(objectOf(metadata['preservedMessages'])?.['uuids']).flatMap(
    (uuid) => nameOf(uuid) ?? [],
  )
  return {
    type: 'compaction',
    id,
    ...defined({
      at: nameOf(line['timestamp']),
      trigger: nameOf(metadata['trigger']),
      tokensBefore: countOf(metadata['preTokens']),
      tokensAfter: countOf(metadata['postTokens']),
      kept: kept.length === 0 ? undefined : kept,
    }),
  }
}

function toldIn(told: Json | undefined): Told | undefined {
  return told === undefined
    ? undefined
    : { role: told['role'] === 'system' ? 'system' : 'user', parts: partsOf(told['content']) }
}

function contextIn(context: Json | undefined): ContextSize | undefined {
  const tokens = countOf(context?.['tokens'])
  if (tokens === undefined) return undefined
  return {
    tokens,
    ...defined({ window: countOf(context?.['window']), point: countOf(context?.['point']) }),
  }
}

function usageIn(usage: Json | undefined): Usage | undefined {
  const [input, output] = [countOf(usage?.['input_tokens']), countOf(usage?.['output_tokens'])]
  if (input === undefined && output === undefined) return undefined
  return {
    input: input ?? 0,
    cacheWritten: countOf(usage?.['cache_creation_input_tokens']) ?? 0,
    cacheRead: countOf(usage?.['cache_read_input_tokens']) ?? 0,
    output: output ?? 0,
  }
}
