import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { renderDocument } from '../../src/document/render.ts'
import { type World, projectOf } from '../support/project.ts'
import { sweepStory } from '../support/worlds.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/documents')
const MARKER = /<!-- stint: rendered from \d+ bytes [0-9a-f]{8} -->/
const NAME = 'fix-sweep-bug-890abc.md'

interface Case {
  readonly name: string
  /** Whether it gets the marker of the document it replaces: each log has its own. */
  readonly isMarked?: boolean
  /** Whether the line that the user wrote into it becomes an entry. */
  readonly isAbsorbed: boolean
  /** The notice when it is quarantined. */
  readonly says?: string
}

const CASES: readonly Case[] = [
  {
    name: 'conflict-markers',
    isMarked: true,
    isAbsorbed: false,
    says: 'it has conflict markers (line 62)',
  },
  {
    name: 'broken-yaml',
    isMarked: true,
    isAbsorbed: false,
    says: 'its frontmatter is not valid YAML',
  },
  { name: 'no-frontmatter', isMarked: true, isAbsorbed: false, says: 'its frontmatter is missing' },
  { name: 'crlf', isMarked: true, isAbsorbed: true, says: 'its lines end in CRLF' },
  {
    name: 'byte-order-mark',
    isMarked: true,
    isAbsorbed: true,
    says: 'it begins with a byte-order mark',
  },
  {
    name: 'missing-section',
    isMarked: true,
    isAbsorbed: true,
    says: 'the section "Discoveries" was missing; what it held is kept',
  },
  { name: 'missing-marker', isAbsorbed: true },
  { name: 'repeated-section', isMarked: true, isAbsorbed: true },
  { name: 'empty', isAbsorbed: false, says: 'it is empty' },
  { name: 'binary-garbage', isAbsorbed: false, says: 'it is not UTF-8 text' },
  { name: 'zeroes', isAbsorbed: false, says: 'it holds NUL characters' },
  { name: 'latin-1', isMarked: true, isAbsorbed: false, says: 'it is not UTF-8 text' },
  { name: 'cut-off-in-a-line', isAbsorbed: false, says: 'it breaks off in the middle of a line' },
  {
    name: 'cut-off-in-the-last-line',
    isAbsorbed: false,
    says: 'it breaks off in the middle of a line',
  },
  { name: 'cut-off-after-a-line', isAbsorbed: false, says: 'the section "Next Steps" was missing' },
  { name: 'another-session', isAbsorbed: false, says: 'it is the document of another session' },
  {
    name: 'changed-id',
    isMarked: true,
    isAbsorbed: true,
    says: 'id in the frontmatter is computed',
  },
  { name: 'huge', isAbsorbed: false, says: 'it has grown by more than 1 MB' },
]

const COMMANDS: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
  view: (world) => world.view(),
  log: (world) => world.run((project) => project.log({ entries: [{ progress: 'Went on' }] })),
  checkpoint: (world) => world.run((project) => project.checkpoint()),
  resume: (world) => world.run((project) => project.resume()),
  pause: (world) => world.run((project) => project.pause()),
  close: (world) => world.run((project) => project.close({ how: 'completed' })),
}

/** Saves the bytes of a fixture over the current document. */
function damaged(world: World, { name, isMarked }: Case): Buffer {
  if (name === 'huge')
    return Buffer.from(
      world.document() + '## Pasted\n' + 'a line of a log that was pasted\n'.repeat(170_000),
    )
  // A power cut leaves this of a document that had not reached the disk.
  if (name === 'zeroes') return Buffer.from(world.document()).fill(0, 600)
  const bytes = readFileSync(join(FIXTURES, `${name}.md`))
  if (isMarked !== true) return bytes
  const marker = MARKER.exec(world.document())![0]
  return Buffer.from(bytes.toString('latin1').replace(MARKER, marker), 'latin1')
}

async function damagedWorld(damage: Case) {
  const world = await projectOf(sweepStory())
  const saved = damaged(world, damage)
  const before = world.document()
  world.save(saved)
  return { world, saved, before }
}

const userEntries = (world: World) =>
  world
    .entries('next.added')
    .filter((data) => (data as { text: string }).text === 'Written by hand')

describe.each(CASES)('a document with $name', (damage) => {
  test.each(Object.keys(COMMANDS))('does not make %s fail', async (command) => {
    const { world } = await damagedWorld(damage)
    await COMMANDS[command]!(world)
    expect(world.messages.join('\n')).not.toContain('could not be written')
  })

  test('is not overwritten unread, and the notice names the quarantined copy', async () => {
    const { world, saved } = await damagedWorld(damage)
    await world.view()
    expect(userEntries(world)).toHaveLength(damage.isAbsorbed ? 1 : 0)
    if (damage.says === undefined) {
      expect(world.setAside()).toEqual([])
      expect(world.messages).toEqual([])
    } else {
      expect(world.setAside().map((bytes) => bytes.equals(saved))).toEqual([true])
      const [quarantined] = world.names('.sessions', 'journal', world.sessionId(), 'set-aside')
      const path = join('.sessions', 'journal', world.sessionId(), 'set-aside', quarantined!)
      expect(world.messages).toHaveLength(1)
      expect(world.messages[0]).toContain(`${NAME} was set aside as ${path}: `)
      expect(world.messages[0]).toContain(damage.says)
    }
  })

  test('retracts nothing, and the document is rendered again in full', async () => {
    const { world, before } = await damagedWorld(damage)
    const { state, marker } = await world.view()
    expect(world.document()).toBe(renderDocument(state, marker))
    expect(world.entries('entry.retracted')).toEqual([])
    expect(world.entries('entry.amended')).toEqual([])
    const lines = (text: string) => text.split('\n').map((line) => line.replace(/^\d+\. /, ''))
    const now = new Set(lines(world.document()))
    expect(
      lines(before).filter(
        (line) => !now.has(line) && !line.startsWith('updated_at') && !MARKER.test(line),
      ),
    ).toEqual([])
  })

  test('is handled once', async () => {
    const { world } = await damagedWorld(damage)
    await world.view()
    const [document, count, quarantined] = [
      world.document(),
      world.journal().length,
      world.setAside().length,
    ]
    await world.view()
    expect([world.document(), world.journal().length, world.setAside().length]).toEqual([
      document,
      count,
      quarantined,
    ])
  })
})

describe('a document too long for one entry', () => {
  test('is quarantined, and the next command works', async () => {
    const world = await projectOf(sweepStory())
    for (const half of [1, 2]) {
      world.save(
        world
          .document()
          .replace(
            '\n<!-- stint',
            `\n## Pasted\n${`${half} "quoted" line of a log\n`.repeat(24_000)}\n<!-- stint`,
          ),
      )
      await world.view()
    }
    // Each of the two was absorbed; together in one section they exceed the limit of an entry.
    const saved = world.document().replace(/\n## Pasted\n(?=2)/, '\n')
    expect(world.entries('section.written')).toHaveLength(2)
    world.save(saved)
    await world.run((project) => project.checkpoint())
    expect(world.setAside().map(String)).toEqual([saved])
    expect(world.messages.join('\n')).toContain(`${NAME} was set aside`)
    expect(world.messages.join('\n')).toContain('longer than 1 MB')
    await world.run((project) => project.log({ entries: [{ progress: 'Went on' }] }))
    expect(world.document()).toContain('- Went on (')
  })
})

describe("something other than a file at the document's path", () => {
  const THINGS: Readonly<Record<string, { put: (path: string) => void; says: string }>> = {
    'a folder': {
      put: (path) => (mkdirSync(path), writeFileSync(join(path, 'mine.txt'), 'Mine')),
      says: 'it is a folder',
    },
    'a pipe': { put: (path) => execFileSync('mkfifo', [path]), says: 'it is not a file' },
    'a link to nothing': {
      put: (path) => symlinkSync('nowhere.md', path),
      says: 'it is a symbolic link to .sessions/active/nowhere.md',
    },
    'a link to itself': {
      put: (path) => symlinkSync(basename(path), path),
      says: `it is a symbolic link to .sessions/active/${NAME}`,
    },
    'a link to a folder': {
      put: (path) => symlinkSync('../..', path),
      says: 'it is a symbolic link to .',
    },
  }

  async function worldWith(thing: string) {
    const world = await projectOf(sweepStory())
    const path = world.path(world.documentPath())
    rmSync(path)
    THINGS[thing]!.put(path)
    return { world, path, inode: lstatSync(path).ino }
  }

  test.each(Object.keys(THINGS))(
    '%s is quarantined unchanged, and the document is rendered again',
    async (thing) => {
      const { world, path, inode } = await worldWith(thing)
      const { state, marker } = await world.view()
      const folder = world.path('.sessions', 'journal', world.sessionId(), 'set-aside')
      const quarantined = readdirSync(folder)
      expect(quarantined.map((name) => lstatSync(join(folder, name)).ino)).toEqual([inode])
      expect(world.messages).toHaveLength(1)
      expect(world.messages[0]).toContain(
        `${NAME} was set aside as ${join(relative(world.root, folder), quarantined[0]!)}: ${THINGS[thing]!.says}`,
      )
      expect(lstatSync(path).isFile()).toBe(true)
      expect(world.document()).toBe(renderDocument(state, marker))
      await world.view()
      expect(world.messages).toHaveLength(1)
    },
  )

  test('a link to a file is quarantined unread, and its target stays', async () => {
    const world = await projectOf(sweepStory())
    const path = world.path(world.documentPath())
    const edited = world.edit(
      '2. Add regression test\n',
      '2. Add regression test\n3. Written by hand\n',
    )
    renameSync(path, world.path('elsewhere.md'))
    symlinkSync('../../elsewhere.md', path)
    await world.view()
    expect(userEntries(world)).toHaveLength(0)
    expect(world.messages).toHaveLength(1)
    expect(world.messages[0]).toContain(
      ': it is a symbolic link to elsewhere.md, which is not read',
    )
    expect(world.read('elsewhere.md')).toBe(edited)
    expect(lstatSync(path).isFile()).toBe(true)
    expect(world.document()).not.toContain('Written by hand')
  })

  test.each(Object.keys(THINGS))(
    '%s leaves the journal healthy, and doctor reports it',
    async (thing) => {
      const { world } = await worldWith(thing)
      const found = async (repair: boolean) => {
        const { checks, counts } = await world.run((project) => project.doctor({ repair }))
        const checkNamed = (name: string) => checks.find(({ check }) => check === name)
        return {
          journals: checkNamed('journals')?.status,
          documents: checkNamed('documents')?.details,
          leftOver: checkNamed('left over'),
          counts,
        }
      }
      const before = await found(true)
      expect(before.journals).toBe('ok')
      expect(before.documents).toEqual([
        expect.stringContaining('no file stands there but something else'),
      ])
      const after = await found(false)
      expect(after.documents).toEqual([])
      expect(after.leftOver?.details).toEqual([expect.stringContaining('set aside')])
      expect(after.counts.sessions.documents).toBe(1)
    },
  )
})
