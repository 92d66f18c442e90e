// The one place where what happened becomes what a client is told.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { publicError } from '../public.ts'
import { clip, clipped } from './tools/bounds.ts'
import type { Answer } from './tools/tool.ts'

/** More than the longest handoff, and less than any harness refuses. */
const LONGEST_TEXT = 50_000

export function answered({ value, text }: Answer, notes: readonly string[]): CallToolResult {
  const structured = notes.length === 0 ? value : { ...value, notes }
  return {
    content: [
      {
        type: 'text',
        text: clip([text, ...notes.map((note) => `Note: ${note}`)].join('\n'), LONGEST_TEXT),
      },
    ],
    structuredContent: clipped(withoutUndefined(structured), LONGEST_TEXT),
  }
}

/** What went wrong, in words that a model can act on. A defect is told and kept from ending the server. */
export function failed(error: unknown, reportDefect: (error: unknown) => void): CallToolResult {
  const told = publicError(error)
  if (told.code === 'DEFECT') reportDefect(error)
  const text = told.hint === undefined ? told.message : `${told.message}\n${told.hint}`
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { error: told } }
}

/** JSON knows no undefined, and the protocol's own check of what is sent takes it for a mistake. */
function withoutUndefined(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}
