import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'

/** Deeper than a shell in a script in a terminal, and soon done. */
const MAX_ANCESTORS = 32
const INTERPRETER = /^(?:node|bun|deno)$/

export interface AncestorProcess {
  readonly env: NodeJS.ProcessEnv
  readonly program: string
}

/**
 * The processes that started this one, the nearest first; empty without /proc. A command can clear its own environment, but not that
 * of its parents.
 */
export function* ancestorProcesses(pid: number = process.ppid): Generator<AncestorProcess> {
  for (let left = MAX_ANCESTORS, at = pid; left > 0 && at > 1; left -= 1) {
    const stat = readProc(at, 'stat')
    // The name in parentheses may hold anything.
    const parent = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    yield { env: environmentOf(readProc(at, 'environ') ?? ''), program: programOf(at) }
    if (!Number.isInteger(parent)) return
    at = parent
  }
}

function environmentOf(text: string): NodeJS.ProcessEnv {
  const pairs = text.split('\0').map((line) => {
    const at = line.indexOf('=')
    return [line.slice(0, at), line.slice(at + 1)]
  })
  return Object.fromEntries(pairs) as NodeJS.ProcessEnv
}

function programOf(pid: number) {
  const [command = '', script = ''] = (readProc(pid, 'cmdline') ?? '').split('\0')
  return INTERPRETER.test(basename(command)) ? basename(script) : basename(command)
}

function readProc(pid: number, name: string) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch (error) {
    // It ended, belongs to another user, or there is no /proc.
    if (errnoOf(error) === undefined) throw error
    return undefined
  }
}
