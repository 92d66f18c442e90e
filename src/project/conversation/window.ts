// How full the context window is. Only the status line learns it, so it leaves a file for the
// hooks.
import { join } from 'node:path'
import type { Limit } from '../../context/budget/figures.ts'
import type { StatusFigures } from '../../harness/contract/hooks.ts'
import { createFolder, replaceUnsynced } from '../../journal/files.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { defined } from '../../text/defined.ts'
import { type Json, countOf, nameOf, objectOf } from '../../text/json-fields.ts'

export interface Window extends StatusFigures {
  readonly at: string
}

export function writeWindow(folder: string, conversation: string, window: Window): void {
  createFolder(folder)
  replaceUnsynced(windowPath(folder, conversation), JSON.stringify(window))
}

export function readWindow(folder: string, conversation: string): Window | undefined {
  try {
    const bytes = readOrUndefined(windowPath(folder, conversation))
    const fields = bytes === undefined ? undefined : objectOf(JSON.parse(bytes.toString('utf8')))
    const at = nameOf(fields?.['at'])
    return fields === undefined || at === undefined ? undefined : { at, ...statusFigures(fields) }
  } catch {
    // Truncated; the status line rewrites it.
    return undefined
  }
}

export function windowPath(folder: string, conversation: string): string {
  return join(folder, `${conversation}.window`)
}

export function statusFigures(fields: Json): StatusFigures {
  const limits = { fiveHour: limitOf(fields['fiveHour']), sevenDay: limitOf(fields['sevenDay']) }
  const counts = Object.fromEntries(
    ['usedPercent', 'size', 'used', 'cost'].map((name) => [name, countOf(fields[name])]),
  )
  return defined({
    ...counts,
    ...limits,
    model: nameOf(fields['model']),
    version: nameOf(fields['version']),
  })
}

function limitOf(value: unknown): Limit | undefined {
  const fields = objectOf(value)
  const percent = countOf(fields?.['percent'])
  return percent === undefined
    ? undefined
    : { percent, ...defined({ resetsAt: nameOf(fields?.['resetsAt'], 40) }) }
}
