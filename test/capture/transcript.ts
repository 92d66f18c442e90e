import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A recorded transcript or event list of a real client. */
export function recorded(
  name: 'claude-2.1.325.jsonl' | 'claude-2.0.77.jsonl' | 'claude-events.jsonl',
): Buffer {
  return readFileSync(join(import.meta.dirname, 'recorded', name))
}

let made = 0

/** A line as Claude Code writes it, with the given changes. */
function line(type: string, fields: object): string {
  made += 1
  const at = new Date(Date.UTC(2026, 0, 1) + made * 1000).toISOString()
  return JSON.stringify({
    parentUuid: null,
    isSidechain: false,
    userType: 'external',
    cwd: '/home/dev/project',
    sessionId: 'c0ffee',
    version: '2.1.325',
    gitBranch: 'main',
    type,
    uuid: `uuid-${made}`,
    timestamp: at,
    ...fields,
  })
}

export const said = (content: unknown, more: object = {}) =>
  line('user', { message: { role: 'user', content }, ...more })

export const answered = (
  content: unknown,
  { message, ...more }: { message?: object; [field: string]: unknown } = {},
) =>
  line('assistant', {
    message: {
      id: `msg_${made + 1}`,
      type: 'message',
      role: 'assistant',
      model: 'some-model',
      content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 30,
        output_tokens: 40,
      },
      ...message,
    },
    ...more,
  })

export const ran = (id: string, command: string, more: object = {}) =>
  answered([{ type: 'tool_use', id, name: 'Bash', input: { command, description: 'x' } }], {
    ...more,
  })

export const came = (id: string, content: unknown, isError = false, more: object = {}) =>
  said([{ tool_use_id: id, type: 'tool_result', content, is_error: isError }], more)

export const compacted = (
  metadata: object = { trigger: 'auto', preTokens: 1000 },
  more: object = {},
) =>
  line('system', {
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    compactMetadata: metadata,
    ...more,
  })

export const summed = (text: string, more: object = {}) =>
  said(text, { isVisibleInTranscriptOnly: true, isCompactSummary: true, ...more })

export const injected = (text: string, more: object = {}) =>
  line('attachment', {
    attachment: {
      type: 'hook_additional_context',
      content: [text],
      hookName: 'SessionStart',
      hookEvent: 'SessionStart',
    },
    ...more,
  })

export const attached = (type: string, fields: object = {}, more: object = {}) =>
  line('attachment', { attachment: { type, ...fields }, ...more })

export const bytesOf = (...lines: readonly string[]) =>
  Buffer.from(lines.map((text) => `${text}\n`).join(''))

/** The same lines with spaces after each colon and comma, and optionally inside brackets. */
export function spaced(bytes: Buffer, within = ''): Buffer {
  const lines = bytes.toString('utf8').split('\n')
  return Buffer.from(
    lines.map((text) => (text === '' ? '' : withBlanks(JSON.parse(text), within))).join('\n'),
  )
}

function withBlanks(value: unknown, within: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value))
    return `[${within}${value.map((item) => withBlanks(item, within)).join(', ')}${within}]`
  const fields = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name)}: ${withBlanks(item, within)}`,
  )
  return `{${within}${fields.join(', ')}${within}}`
}
