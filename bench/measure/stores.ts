import type { Deed, Standing, Status, StoreName } from './orders.ts'
import { pathToFileURL } from 'node:url'
import type { PublicProject } from '../../src/public-project.ts'
import type { LogEntry } from '../../src/project/lifecycle/log-entries.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFolder } from '../../src/journal/read-files.ts'
import { parseJson } from '../../src/text/json-fields.ts'

/** A session in one of the stores. */
export interface Store {
  /** Creates the session with its tasks and the shared checklist. */
  make(tasks: readonly string[], items: readonly string[]): Promise<void>
  /** Opens it, so that recording can start at once. */
  open(): Promise<void>
  /** Returns once it is acknowledged; throws if the write fails. */
  record(deed: Deed): Promise<void>
  /** Several discoveries in one write. */
  pour(texts: readonly string[]): Promise<void>
  standing(): Promise<Standing>
  close(): void
}

export const SESSION = 'measured'
/** The task with the shared checklist. */
export const SHARED = 'shared'

/** Longer than any acknowledged item: filler text. */
const FILLING = 5000

export function countOne(counts: Record<string, number>, text: string): void {
  if (text.length < FILLING) counts[text] = (counts[text] ?? 0) + 1
}

export type openProjectOf = (cwd: string) => PublicProject

/** The library under test, not necessarily the one this was built with. */
export async function loadLibrary(path: string): Promise<openProjectOf> {
  const { openProject } = (await import(pathToFileURL(path).href)) as { openProject: openProjectOf }
  return openProject
}

const STEPS = { todo: 'open', started: 'working', done: 'done' } as const
const TASKS: Readonly<Record<string, Status>> = { in_progress: 'working', completed: 'done' }

/** A Stint session, through the library. */
export function stintStore(openProject: openProjectOf, root: string): Store {
  const project = openProject(root)
  let handle: Awaited<ReturnType<PublicProject['session']>> | undefined
  const open = async () => (handle ??= await project.session(SESSION))
  const append = async (entries: readonly LogEntry[]) => void (await open()).append(entries)
  return {
    async make(tasks, items) {
      for (const title of tasks) await project.tasks.add({ title })
      if (items.length > 0) {
        await project.tasks.add({
          title: SHARED,
          checklist: items.map((item) => ({ item, done: false })),
        })
      }
      await project.init({
        name: SESSION,
        goal: 'Find out what is kept',
        tasks: [...tasks, ...(items.length > 0 ? [SHARED] : [])],
      })
    },
    async open() {
      await open()
    },
    async record(deed: Deed) {
      if ('task' in deed)
        await project.tasks.move(deed.task, deed.is === 'done' ? 'completed' : 'in_progress')
      else if ('ticked' in deed) await project.tasks.check(SHARED, deed.ticked)
      else await append([entryFor(deed)])
    },
    pour: (texts) => append(texts.map((discovery) => ({ discovery }))),
    async standing(): Promise<Standing> {
      const { steps, decisions, discoveries } = await project.view(SESSION)
      const { tasks } = await project.tasks.list()
      const statuses: Record<string, Status> = {}
      const counts: Record<string, number> = {}
      for (const { text, status } of steps.items) statuses[`step ${text}`] = STEPS[status]
      for (const { name, status, checklist } of tasks) {
        statuses[`task ${name}`] = TASKS[status] ?? 'open'
        for (const { item, done } of checklist) statuses[`item ${item}`] = done ? 'done' : 'open'
      }
      for (const { text } of [...decisions.items, ...discoveries.items]) countOne(counts, text)
      return { statuses, counts }
    },
    close() {
      handle?.close()
      project.dispose()
    },
  }
}

function entryFor(deed: Exclude<Deed, { task: string } | { ticked: string }>): LogEntry {
  if ('step' in deed) return deed.is === 'done' ? { done: deed.step } : { current: deed.step }
  if ('decision' in deed)
    return { decision: deed.decision, rationale: 'It is to be seen whether this is kept' }
  return { discovery: deed.discovery }
}

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

/** What an agent does with state in a JSON file: read, change, write back. */
export function jsonStore(root: string): Store {
  const path = sessionJsonIn(root)
  const read = () => JSON.parse(readFileSync(path, 'utf8')) as SessionJson
  const write = (session: SessionJson) => {
    session.updated_at = new Date().toISOString()
    writeFileSync(path, JSON.stringify(session, null, 2))
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

/** The session's file, found without the code under test. */
export function truthIn(store: StoreName, root: string): string {
  if (store === 'session-json') return sessionJsonIn(root)
  const journals = join(root, '.sessions', 'journal')
  const [id, ...more] = listFolder(journals)
  if (id === undefined || more.length > 0) throw new Error(`there is not one session in ${root}`)
  return join(journals, id, 'log.jsonl')
}

/** Whether a write was truncated: the file does not end with complete JSON. */
export function isTorn(store: StoreName, root: string): boolean {
  const text = readFileSync(truthIn(store, root), 'utf8')
  const last = store === 'session-json' ? text : text.slice(text.trimEnd().lastIndexOf('\n') + 1)
  return parseJson(last) === undefined
}
