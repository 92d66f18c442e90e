import type { EntryDraft, EntryData, EntryKind } from '../../src/session/entries.ts'
import { type Backlog, type TaskEntry, foldBacklog } from '../../src/backlog/backlog.ts'
import type { TaskFile } from '../../src/backlog/task-files.ts'
import type { Task } from '../../src/backlog/task.ts'

/** A journal in memory: entries get ids in the order they are added. */
export class MemoryJournal {
  readonly entries: TaskEntry[] = []
  #count = 0

  log<K extends EntryKind>(
    kind: K,
    data: EntryData[K],
    extra: { session?: string; once?: string } = {},
  ): string {
    return this.append([{ kind, data, by: 'library' } as EntryDraft], extra)[0]!.id
  }

  append = (
    drafts: readonly EntryDraft[],
    extra: { session?: string; once?: string } = {},
  ): readonly TaskEntry[] => {
    const added = drafts.map((draft) => {
      this.#count += 1
      const at = new Date(Date.UTC(2026, 0, 1) + this.#count * 60_000).toISOString()
      return {
        ...draft,
        id: entryId(this.#count),
        at,
        data: draft.data as Record<string, unknown>,
        ...extra,
      }
    })
    this.entries.push(...added)
    return added
  }

  add(task: string, fields: Omit<EntryData['task.added'], 'task'> = {}): string {
    return this.log('task.added', { task, title: `Task ${task}`, shortname: task, ...fields })
  }

  move(task: string, status: EntryData['task.moved']['status'], summary?: string): string {
    return this.log('task.moved', { task, status, ...(summary === undefined ? {} : { summary }) })
  }

  backlog(): Backlog {
    return foldBacklog(this.entries)
  }

  task(id: string): Task {
    return this.backlog().byId.get(id)!
  }
}

export function entryId(count: number): string {
  return `019b7000-0000-7000-8000-${count.toString(16).padStart(12, '0')}`
}

/** A backlog in one line: `a P1 S in_progress <b,c ^epic =g`, where `<` names dependencies, `^` the parent and `=` the group. */
export function backlogOf(...lines: readonly string[]): MemoryJournal {
  const journal = new MemoryJournal()
  for (const line of lines) {
    const [id = '', ...words] = line.split(' ')
    const named = (mark: string) => words.find((word) => word.startsWith(mark))?.slice(mark.length)
    const priority = words.find((word) => /^P\d$/.test(word))
    const size = words.find((word) => /^(?:XS|S|M|L|XL)$/.test(word))
    const parent = named('^')
    const group = named('=')
    journal.add(id, {
      dependsOn: named('<')?.split(',') ?? [],
      ...(priority === undefined ? {} : { priority }),
      ...(size === undefined ? {} : { size }),
      ...(parent === undefined ? {} : { parent }),
      ...(group === undefined ? {} : { group }),
    })
    const status = words.find((word) =>
      ['in_progress', 'blocked', 'completed', 'failed'].includes(word),
    )
    if (status !== undefined) journal.move(id, status as 'blocked')
  }
  return journal
}

export function fileOf(text: string, name = 'by-hand.md'): TaskFile {
  return {
    path: `/nowhere/${name}`,
    name,
    folder: 'active',
    text,
    modifiedMs: 1_767_225_600_000,
    isCopy: false,
  }
}
