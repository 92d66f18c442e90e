// Lines hold parts as blocks of the Anthropic kind.
import { type Json, listOf, nameOf, objectOf } from '../text/json-fields.ts'
import type { Part } from './items.ts'
import { isBase64 } from './large-strings.ts'
import { defined } from '../text/defined.ts'

export function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).map(partOf)
}

function partOf(value: unknown): Part {
  if (typeof value === 'string') return { type: 'text', text: value }
  const block = objectOf(value)
  return (
    (block === undefined ? undefined : knownPart(block)) ?? {
      type: 'other',
      block: block ?? { value },
    }
  )
}

function knownPart(block: Json): Part | undefined {
  const { type, text, thinking, signature, data } = block
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type, text } : undefined
    case 'thinking':
      if (typeof thinking !== 'string') return undefined
      return { type, text: thinking, ...(typeof signature === 'string' ? { signature } : {}) }
    case 'redacted_thinking':
      return typeof data === 'string' ? { type: 'thinking', text: '', data } : undefined
    case 'image':
      return pictureIn(objectOf(block['source']))
    case 'tool_use':
      return toolUseIn(block)
    case 'tool_result':
      return toolResultIn(block)
    default:
      return undefined
  }
}

function pictureIn(source: Json | undefined): Part | undefined {
  const { type, media_type: mediaType, data, url } = source ?? {}
  if (type === 'url' && typeof url === 'string') return { type: 'image link', url }
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string')
    return undefined
  // A text replaces a picture that is missing.
  return isBase64(data) ? { type: 'image', mediaType, data } : { type: 'text', text: data }
}

function toolUseIn(block: Json): Part | undefined {
  const [id, name] = [nameOf(block['id']), nameOf(block['name'], 1000)]
  if (id === undefined || name === undefined) return undefined
  return { type: 'tool use', id, name, input: objectOf(block['input']) ?? {} }
}

function toolResultIn(block: Json): Part | undefined {
  const use = nameOf(block['tool_use_id'])
  if (use === undefined) return undefined
  return {
    type: 'tool result',
    use,
    parts: partsOf(block['content']),
    isError: block['is_error'] === true,
  }
}

export function blocksOf(parts: readonly Part[]): readonly Json[] {
  return parts.map(blockOf)
}

function blockOf(part: Part): Json {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'thinking':
      if (part.data !== undefined) return { type: 'redacted_thinking', data: part.data }
      return {
        type: 'thinking',
        thinking: part.text,
        ...defined({ signature: part.signature }),
      }
    case 'image':
      return {
        type: 'image',
        source: { type: 'base64', media_type: part.mediaType, data: part.data },
      }
    case 'image link':
      return { type: 'image', source: { type: 'url', url: part.url } }
    case 'tool use':
      return { type: 'tool_use', id: part.id, name: part.name, input: part.input }
    case 'tool result':
      return {
        type: 'tool_result',
        tool_use_id: part.use,
        content: blocksOf(part.parts),
        ...(part.isError ? { is_error: true } : {}),
      }
    case 'other':
      return part.block
  }
}
