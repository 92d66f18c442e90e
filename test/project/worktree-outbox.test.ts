import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mintId } from '../../src/journal/ids.ts'
import { DEFAULT_CONFIG } from '../../src/project/config/config.ts'
import { LiveSession } from '../../src/project/store/live-session.ts'
import { findProjectPaths } from '../../src/project/store/project-paths.ts'
import { drainWorktreeOutbox } from '../../src/project/store/worktree-outbox.ts'
import { uncommittedPaths } from '../../src/run/worktree/run-tree.ts'
import { gitProject } from '../support/project.ts'
import { scratchFolder } from '../support/scratch.ts'

const NAME = '1790000000000-000000012000000345-0a1b2c3d'
const ONCE = `outbox:${NAME}`

interface LeftEntry {
  readonly kind?: string
  readonly by?: string
  readonly id?: string
  readonly at?: string
  readonly once?: string
  readonly data?: unknown
}

/** A session, a worktree, and the entries left in it. */
async function agentTree() {
  const world = gitProject()
  await world.run((project) => project.init({ name: 'there', goal: 'Stay as it is' }))
  const id = world.sessionId()
  const tree = scratchFolder()
  const folder = join(tree, '.stint-outbox', id)
  mkdirSync(folder, { recursive: true })
  const leave = (text: string, kind = 'note.added', name = NAME) =>
    writeFileSync(join(folder, `${name}.${kind}.json`), text)
  const absorb = () => {
    const before = world.journal(id).length
    const session = new LiveSession(id, findProjectPaths(world.root), DEFAULT_CONFIG)
    const absorbed = drainWorktreeOutbox(session, tree)
    session.close()
    const fresh = world.journal(id).slice(before)
    return { ...absorbed, texts: fresh.map(({ data }) => data['text']) }
  }
  return { world, id, opened: world.journal(id)[0]!.id, tree, folder, leave, absorb }
}

function entry(fields: LeftEntry = {}): string {
  const made = {
    kind: 'note.added',
    by: 'cli',
    id: mintId(undefined),
    at: new Date().toISOString(),
    once: ONCE,
  }
  return JSON.stringify({ ...made, data: { text: 'hello' }, ...fields })
}

describe('an entry in the worktree outbox', () => {
  test('is drained when an agent may write it', async () => {
    const { folder, leave, absorb } = await agentTree()
    leave(
      entry({
        data: {
          text: 'from the \u001B[31magent, API_KEY=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789',
        },
      }),
    )
    expect(absorb()).toEqual({
      taken: 1,
      refused: 0,
      texts: [expect.stringMatching(/^from the agent, API_KEY=\[redacted/)],
    })
    expect(existsSync(folder)).toBe(false)
    expect(absorb()).toEqual({ taken: 0, refused: 0, texts: [] })
  })

  test.each(['cli', 'library', 'mcp'])(
    'is drained from any interface an agent has: %s',
    async (by) => {
      const { leave, absorb } = await agentTree()
      leave(entry({ by }))
      expect(absorb()).toEqual({ taken: 1, refused: 0, texts: ['hello'] })
    },
  )

  test('is drained when its id follows one of a clock that was ahead', async () => {
    const { world, id, leave, absorb } = await agentTree()
    const session = new LiveSession(id, findProjectPaths(world.root), DEFAULT_CONFIG)
    const ahead = mintId(undefined, Date.now() + 86_400_000)
    session.append([{ kind: 'note.added', by: 'cli', id: ahead, data: { text: 'ahead' } }])
    session.close()
    leave(entry({ id: mintId(ahead) }))
    expect(absorb()).toEqual({ taken: 1, refused: 0, texts: ['hello'] })
  })

  test('counts once when drained twice', async () => {
    const { world, folder, leave, absorb } = await agentTree()
    const text = entry({ data: { text: 'only once' } })
    for (let times = 0; times < 2; times += 1) {
      mkdirSync(folder, { recursive: true })
      leave(text)
      expect(absorb().taken).toBe(1)
    }
    const { state } = await world.view()
    expect(state.notes.items.filter((note) => note.text === 'only once')).toHaveLength(1)
  })

  test.each<[string, (opened: string) => LeftEntry]>([
    ['closes a task', () => ({ kind: 'task.moved', data: { task: 'x', status: 'completed' } })],
    ['closes the session', () => ({ kind: 'session.closed', data: { how: 'completed' } })],
    ['is of no kind there is', () => ({ kind: 'constructor.name', data: {} })],
    ['speaks as the run', () => ({ by: 'run' })],
    ['has the key of another', () => ({ once: 'done:session:task:commit' })],
    ['has no key', () => ({ once: undefined as never })],
    ['has the id of another', (opened) => ({ id: opened })],
    ['has an id from the future', () => ({ id: mintId(undefined, Date.now() + 86_400_000) })],
    ['has no id', () => ({ id: 'x' })],
    ['has a time from the future', () => ({ at: '2999-01-01T00:00:00.000Z' })],
    ['has no time', () => ({ at: 'soon' })],
    [
      'takes back the beginning of the session',
      (opened) => ({ kind: 'entry.retracted', data: { entry: opened } }),
    ],
    [
      'rewords the beginning of the session',
      (opened) => ({ kind: 'entry.amended', data: { entry: opened, changes: { name: 'x' } } }),
    ],
    ['holds what is no text', () => ({ data: { text: { deep: { deeper: 'x' } } } })],
    ['holds nothing', () => ({ data: { text: null } })],
  ])('is quarantined when it %s', async (_, left) => {
    const { folder, leave, absorb, opened } = await agentTree()
    const made = left(opened)
    leave(entry(made), made.kind)
    leave(
      entry({ once: `outbox:${NAME.replace('1790', '1791')}` }),
      'note.added',
      NAME.replace('1790', '1791'),
    )
    expect(absorb()).toEqual({ taken: 1, refused: 1, texts: ['hello'] })
    expect(readdirSync(folder)).toEqual([`${NAME}.${made.kind ?? 'note.added'}.json.damaged`])
    expect(absorb()).toEqual({ taken: 0, refused: 0, texts: [] })
  })

  test('is quarantined when it is a link, a pipe, a folder, too long, or no entry', async () => {
    const { folder, absorb } = await agentTree()
    const elsewhere = join(scratchFolder(), 'elsewhere')
    const stem = (number: number) => `${NAME.slice(0, -1)}${number}`
    const named = (number: number) => join(folder, `${stem(number)}.note.added.json`)
    const whole = (number: number, text: string) =>
      entry({ once: `outbox:${stem(number)}`, data: { text } })
    writeFileSync(elsewhere, whole(1, 'not the agent’s'))
    symlinkSync(elsewhere, named(1))
    execFileSync('mkfifo', [named(2)])
    mkdirSync(named(3))
    writeFileSync(named(4), whole(4, 'x'.repeat(300_000)))
    writeFileSync(named(5), '{"kind": "note')
    expect(absorb()).toEqual({ taken: 0, refused: 5, texts: [] })
    expect(readFileSync(elsewhere, 'utf8')).toContain('not the agent')
    expect(absorb()).toEqual({ taken: 0, refused: 0, texts: [] })
  })

  test('is not part of the work, whether git sees it or not', () => {
    const world = gitProject()
    world.write('.stint-outbox/x', '')
    expect(uncommittedPaths(world.root)).toEqual([])
    world.write('other', '')
    expect(uncommittedPaths(world.root)).toEqual(['other'])
  })

  test('is not read through a link, nor for another session', async () => {
    const { tree, folder, leave, absorb } = await agentTree()
    leave(entry())
    const other = join(tree, '.stint-outbox', mintId(undefined))
    renameSync(folder, other)
    expect(absorb()).toEqual({ taken: 0, refused: 0, texts: [] })
    symlinkSync(other, folder)
    expect(absorb()).toEqual({ taken: 0, refused: 0, texts: [] })
    expect(readdirSync(other)).toHaveLength(1)
  })
})
