import type { Message, Part } from '../../history/items.ts'
import { separateWords } from '../entry-text.ts'

/** Of a text, a command and a tool's answer: how much of its beginning and of its end can be found. */
const BOUNDS = {
  text: [16_000, 4_000],
  command: [2_000, 500],
  answer: [1_500, 500],
} as const

/** What can be searched for of a message; empty when that is nothing. What the harness put there was said by nobody. */
export function saidText(message: Message): string {
  if (message.isMeta === true) return ''
  return separateWords(
    message.parts
      .map(partText)
      .filter((text) => text !== '')
      .join('\n')
      .toWellFormed(),
  )
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return ends(part.text, 'text')
    case 'tool use':
      return ends([part.name, ...stringsIn(part.input, 4)].join('\n'), 'command')
    case 'tool result':
      return ends(
        part.parts.flatMap((inner) => (inner.type === 'text' ? [inner.text] : [])).join('\n'),
        'answer',
      )
    default:
      return ''
  }
}

function ends(text: string, what: keyof typeof BOUNDS): string {
  const [head, tail] = BOUNDS[what]
  return text.length <= head + tail ? text : `${text.slice(0, head)}\n…\n${text.slice(-tail)}`
}

/** The strings in the input of a tool: its command, its path, what it is to write. */
function* stringsIn(value: unknown, depth: number): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null && depth > 0) {
    for (const inner of Object.values(value)) yield* stringsIn(inner, depth - 1)
  }
}
