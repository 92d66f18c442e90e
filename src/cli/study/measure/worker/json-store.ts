import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { overwriteInPlace } from '../../../../journal/files.ts'
import type { Deed, Standing, Status } from './orders.ts'
import { type Store, countOne } from './store.ts'

interface SessionJson {
  readonly session_id: string
  readonly tasks: {
    description: string
    status: Status
    checklist: { item: string; done: boolean }[]
  }[]
  readonly steps: { text: string; status: Status }[]
  readonly decisions: string[]
  readonly discoveries: string[]
  updated_at: string
}

export function sessionJsonIn(root: string): string {
  return join(root, 'session.json')
}

/** What an agent does that is told to keep its state in a JSON file: read it, change it, write it back. */
export function jsonStore(root: string): Store {
  const path = sessionJsonIn(root)
  const read = () => JSON.parse(readFileSync(path, 'utf8')) as SessionJson
  const write = (session: SessionJson) => {
    session.updated_at = new Date().toISOString()
    overwriteInPlace(path, JSON.stringify(session, null, 2))
  }
  return {
    async make(tasks, items) {
      const checklist = items.map((item) => ({ item, done: false }))
      write({
        session_id: 'measured',
        tasks: tasks.map((description, index) => ({
          description,
          status: 'open',
          checklist: index === 0 ? checklist : [],
        })),
        steps: [],
        decisions: [],
        discoveries: [],
        updated_at: '',
      })
    },
    async open() {},
    async record(deed) {
      const session = read()
      apply(session, deed)
      write(session)
    },
    async pour(texts) {
      const session = read()
      session.discoveries.push(...texts)
      write(session)
    },
    async standing() {
      return standingOf(read())
    },
    close() {},
  }
}

function apply(session: SessionJson, deed: Deed): void {
  if ('decision' in deed) session.decisions.push(deed.decision)
  else if ('discovery' in deed) session.discoveries.push(deed.discovery)
  else if ('task' in deed)
    session.tasks.find(({ description }) => description === deed.task)!.status = deed.is
  else if ('ticked' in deed) {
    for (const { checklist } of session.tasks)
      for (const one of checklist) if (one.item === deed.ticked) one.done = true
  } else {
    const step = session.steps.find(({ text }) => text === deed.step)
    if (step === undefined) session.steps.push({ text: deed.step, status: deed.is })
    else step.status = deed.is
  }
}

function standingOf({ tasks, steps, decisions, discoveries }: SessionJson): Standing {
  const statuses: Record<string, Status> = {}
  const counts: Record<string, number> = {}
  for (const { text, status } of steps) statuses[`step ${text}`] = status
  for (const { description, status, checklist } of tasks) {
    statuses[`task ${description}`] = status
    for (const { item, done } of checklist) statuses[`item ${item}`] = done ? 'done' : 'open'
  }
  for (const text of [...decisions, ...discoveries]) countOne(counts, text)
  return { statuses, counts }
}
