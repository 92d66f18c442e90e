import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HistoryItem, Message, MessagePart } from '../../src/history/items.ts'
import { conversationStore } from '../../src/history/store.ts'
import { type ImportRequest, importHistories } from '../../src/project/import/import-histories.ts'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { initRepository, scratchFolder } from '../support/scratch.ts'

const fixtures = join(dirname(dirname(fileURLToPath(import.meta.url))), 'fixtures', 'histories')

export const CLAUDE = '13628210-bdde-4c7a-80a3-bda43477d1f8'
export const CODEX = '01a1e20e-9b9b-7803-8e74-e9610c03ee80'
export const FORK = '01a1e20e-a030-7dc0-a121-b7391d77d0cc'
export const GEMINI = '9f9cfd9e-5bc6-4659-bfcc-1aa28871d045'
export const OPENCODE = 'ses_e1df130aaffeELxFMARn8Bwkax'

/** A project and a home with real histories of four harnesses. */
export class ImportWorld {
  readonly root = scratchFolder()
  readonly project = join(this.root, 'project')
  readonly home = join(this.root, 'home')
  readonly env = { HOME: this.home }
  readonly workspace: Workspace

  constructor() {
    mkdirSync(this.project)
    initRepository(this.project)
    this.workspace = new Workspace(this.project, { env: this.env })
  }

  readonly claude = join(this.home, '.claude', 'projects', '-home-me-project', `${CLAUDE}.jsonl`)
  readonly agent = join(
    this.home,
    '.claude',
    'projects',
    '-home-me-project',
    CLAUDE,
    'subagents',
    'agent-a1.jsonl',
  )
  readonly codex = join(
    this.home,
    '.codex',
    'sessions',
    '2026',
    '11',
    '16',
    `rollout-2026-11-16T01-52-50-${CODEX}.jsonl`,
  )
  readonly fork = join(
    this.home,
    '.codex',
    'sessions',
    '2026',
    '11',
    '16',
    `rollout-2026-11-16T01-52-51-${FORK}.jsonl`,
  )
  readonly gemini = join(
    this.home,
    '.gemini',
    'tmp',
    'project',
    'chats',
    'session-2026-11-16T01-52-9f9cfd9e.jsonl',
  )
  readonly opencode = join(this.home, '.local', 'share', 'opencode', 'opencode.db')

  /** All histories of the four harnesses. */
  plantAll(): this {
    this.plant(this.claude, 'claude.jsonl')
    this.plant(this.agent, 'claude-agent.jsonl')
    this.plant(this.codex, 'codex.jsonl')
    this.plant(this.fork, 'codex-fork.jsonl')
    this.plant(this.gemini, 'gemini.jsonl')
    write(join(dirname(dirname(this.gemini)), '.project_root'), this.project)
    this.plantDatabase()
    return this
  }

  recorded(name: string): string {
    return readFileSync(join(fixtures, name), 'utf8').replaceAll('/home/me/project', this.project)
  }

  plant(path: string, name: string): void {
    write(path, this.recorded(name))
  }

  plantDatabase(rows = JSON.parse(this.recorded('opencode.json')) as Tables): void {
    mkdirSync(dirname(this.opencode), { recursive: true })
    const database = new (loadSqlite().DatabaseSync)(this.opencode)
    for (const [table, [first]] of Object.entries(rows)) {
      const columns = Object.keys(first!)
      database.exec(`CREATE TABLE IF NOT EXISTS ${table} (${columns.join(', ')})`)
      const insert = database.prepare(
        `INSERT OR REPLACE INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`,
      )
      for (const row of rows[table]!) insert.run(...columns.map((column) => row[column] ?? null))
    }
    database.close()
  }

  import(request: ImportRequest = {}) {
    return importHistories(this.workspace, { env: this.env, ...request })
  }

  items(conversation: string): readonly HistoryItem[] {
    const store = conversationStore(join(this.project, '.sessions'), {})
    return [...store.read(conversation)].map(({ offset: _offset, ...item }) => item as HistoryItem)
  }

  messages(conversation: string): readonly Message[] {
    return this.items(conversation).filter((item) => item.type === 'message')
  }

  stored(conversation: string): string {
    return readFileSync(
      join(this.project, '.sessions', 'conversations', `${conversation}.jsonl`),
      'utf8',
    )
  }
}

export type Tables = Record<string, readonly Record<string, string | number | null>[]>

export function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

export function textsOf(parts: readonly MessagePart[]): readonly string[] {
  return parts.flatMap((part) =>
    part.type === 'text' ? [part.text] : part.type === 'tool result' ? textsOf(part.parts) : [],
  )
}
