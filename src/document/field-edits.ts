import { parse as parseYaml } from 'yaml'
import type { SessionState } from '../session/state.ts'
import { slug } from '../text/clean.ts'
import type { BaseDocument } from './base.ts'
import type { EditLog } from './edit-log.ts'
import type { ParsedDocument } from './parse.ts'

/** What a person changed in the frontmatter. Their own keys are kept; computed ones are computed again. */
export function fieldEdits(
  state: SessionState,
  base: BaseDocument,
  person: ParsedDocument,
  log: EditLog,
): void {
  const before = new Map(base.fields)
  const now = new Map(person.fields)
  for (const [key, value] of now) {
    if (before.get(key) === value) continue
    if (!before.has(key) || Object.hasOwn(state.fields, key)) {
      if (KNOWN.has(key)) log.say(`${key} in the frontmatter is computed`)
      else log.add('field.set', { key, value })
      continue
    }
    const change = CHANGES[key]
    if (change === undefined) log.say(`${key} in the frontmatter is computed`)
    else change(parsed(value), state, log)
  }
  for (const key of Object.keys(state.fields))
    if (!now.has(key)) log.takeBack('field.set', { key, value: '' })
}

const KNOWN = new Set([
  'id',
  'created_at',
  'updated_at',
  'compaction_count',
  'git_branch',
  'git_last_commit',
  'paused_at',
  'pause_reason',
  'closed_at',
  'duration_hours',
  'close_reason',
])

const CHANGES: Readonly<
  Record<string, (value: unknown, state: SessionState, log: EditLog) => void>
> = {
  shortname: (value, _state, log) => {
    if (typeof value === 'string' && value.trim() !== '')
      log.add('session.renamed', { name: slug(value) })
  },
  task_ids: (value, state, log) => {
    const tasks = Array.isArray(value) ? value.map(String) : []
    for (const task of tasks) if (!state.tasks.includes(task)) log.add('task.linked', { task })
    for (const task of state.tasks)
      if (!tasks.includes(task)) log.takeBack('task.unlinked', { task })
  },
  status: (value, state, log) => {
    if (value === 'paused') log.add('session.paused', {})
    else if (value === 'completed' || value === 'abandoned')
      log.add('session.closed', { how: value })
    else if (value === 'active' && state.status === 'paused') log.add('session.resumed', {})
    else if (value === 'active') log.add('session.reopened', {})
    else {
      log.say(`status in the frontmatter is one of active, paused, completed, abandoned`)
      return
    }
    const status =
      value === 'completed' ? 'completed' : value === 'active' ? 'in_progress' : 'ready'
    for (const task of state.tasks) log.add('task.moved', { task, status })
  },
}

function parsed(value: string): unknown {
  try {
    return parseYaml(value.trimStart())
  } catch {
    // The whole frontmatter was valid; a value that is not by itself (an anchor, say) stays text.
    return value.trim()
  }
}
