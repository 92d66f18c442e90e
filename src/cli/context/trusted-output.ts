// Everything a command prints passes here. Only what our own code has marked as trusted reaches the terminal as it is; the rest is
// cleaned, whether it comes from a journal, git, an agent or the command line.
import type { StricliProcess } from '@stricli/core'
import { printable } from '../../text/printable.ts'

// Drawn for each process, so that no text written before can hold it. Noncharacters, which nothing else uses.
const NONCE = Math.random().toString(36).slice(2)
const BEGIN = `\uFDD0${NONCE}\uFDD1`
const END = `\uFDD2${NONCE}\uFDD3`
const TRUSTED = new RegExp(`${BEGIN}[^]*?${END}`, 'g')

/** Passes our own sequence for the terminal, or raw bytes for a file, through the cleaning. */
export function trusted(sequence: string): string {
  return `${BEGIN}${sequence}${END}`
}

/** For a line that is drawn in place. */
export const CLEAR_LINE = trusted('\r\u001B[K')

export function withoutTrusted(text: string): string {
  return text.includes(BEGIN) ? text.replaceAll(TRUSTED, '') : text
}

/** The text as the terminal receives it. */
export function printedText(text: string): string {
  if (!text.includes(BEGIN)) return printable(text)
  const [first = '', ...rest] = text.split(BEGIN)
  return rest.reduce((printed, part) => {
    const end = part.indexOf(END)
    // Our own text that was cut; what follows may be anything.
    if (end < 0) return printed + printable(part)
    return `${printed}${part.slice(0, end)}${printable(part.slice(end + END.length))}`
  }, printable(first))
}

type Stream = StricliProcess['stdout'] &
  Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows' | 'on' | 'off'>>

/** The context of a command, with streams that clean what is written to them. */
export function withCleanOutput<T extends { readonly process: StricliProcess }>(context: T): T {
  const { stdout, stderr } = context.process
  const process = { ...context.process, stdout: cleanStream(stdout), stderr: cleanStream(stderr) }
  // The other fields are read on demand.
  return Object.create(context, { process: { value: process, enumerable: true } }) as T
}

function cleanStream(stream: Stream) {
  return {
    write: (text: string) => stream.write(printedText(text)),
    get isTTY() {
      return stream.isTTY
    },
    get columns() {
      return stream.columns
    },
    get rows() {
      return stream.rows
    },
    on: (event: string, listener: () => void) => void stream.on?.(event, listener),
    off: (event: string, listener: () => void) => void stream.off?.(event, listener),
  }
}
