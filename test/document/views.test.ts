import {
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { decode } from '@toon-format/toon'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Log } from '../../src/journal/log.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { encodeRecord, withChecksum } from '../../src/journal/record.ts'
import { abridge, fold } from '../../src/session/fold.ts'
import { renderStateToon, summarizeSession } from '../../src/document/state-files.ts'
import { publicSession } from '../../src/session/public-session.ts'
import { readAbridgedState } from '../../src/document/snapshot.ts'
import { dump } from '../index/world.ts'
import { type World, plainProject, plant, projectOf } from '../support/project.ts'
import { PLACES, anyStory, insert } from '../support/stories.ts'
import { SESSION_ID, Story, sweepStory } from '../support/worlds.ts'
import { cases } from '../support/cases.ts'

const JOURNAL = join('.sessions', 'journal', SESSION_ID)
const LOG = join(JOURNAL, 'log.jsonl')
const SNAPSHOT = join(JOURNAL, 'snapshot.json')

/** Every file that may be deleted at any time, with its content. The index is compared by rows, because its bytes differ. */
function views(world: World): Readonly<Record<string, string>> {
  const folder = world.path('.sessions')
  const isView = (path: string) =>
    /^(?:active|archive)\/|^journal\/[^/]+\/(?!log\.jsonl$)/.test(path)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => isView(path) && statSync(join(folder, path)).isFile())
    .toSorted()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

function deleteViews(world: World): void {
  const id = SESSION_ID
  for (const path of ['active', 'archive', 'index.db', 'index.db-wal', 'index.db-shm', 'touched']) {
    rmSync(world.path('.sessions', path), { recursive: true, force: true })
  }
  for (const name of world
    .names('.sessions', 'journal', id)
    .filter((each) => each !== 'log.jsonl')) {
    rmSync(world.path('.sessions', 'journal', id, name), { recursive: true, force: true })
  }
}

/** The index is updated when it is queried. */
const index = (world: Awaited<ReturnType<typeof projectOf>>) =>
  world.run(async (project) => [...(await project.list())])

describe('a deleted view', () => {
  test('is rebuilt with the same bytes for any log and edits', async () => {
    const edit = fc.oneof(
      fc.tuple(fc.constantFrom(...PLACES), fc.stringMatching(/^[a-z]{5,12} [a-z]{5,12}$/)),
      fc.tuple(fc.constant('remove' as const), fc.nat()),
    )
    await fc.assert(
      fc.asyncProperty(anyStory, fc.array(edit, { maxLength: 3 }), async (story, edits) => {
        const world = await projectOf(story)
        const view = () => world.view(SESSION_ID)
        for (const [place, what] of edits) {
          const text = world.document()
          if (place !== 'remove') world.save(insert(text, place, String(what)))
          else {
            const items = text.match(/^- (?!None).*\n/gm) ?? []
            if (items.length > 0) world.save(text.replace(items[Number(what) % items.length]!, ''))
          }
          await view()
        }
        await world.run((project) => project.checkpoint({ session: SESSION_ID, note: 'before' }))
        await world.run((project) =>
          project.log({ session: SESSION_ID, entries: [{ progress: 'after' }] }),
        )
        await view()
        await index(world)
        const before = { views: views(world), index: dump(world.path('.sessions')) }
        expect(Object.keys(before.views)).toEqual(
          expect.arrayContaining([
            expect.stringMatching(/^active\//),
            ...['progress.md', 'snapshot.json', 'state.json', 'state.toon'].map(
              (name) => `journal/${SESSION_ID}/${name}`,
            ),
            expect.stringMatching(/\/entries\/[^/]+Z-[0-9a-f]{6}\.md$/),
          ]),
        )
        deleteViews(world)
        await view()
        await index(world)
        expect({ views: views(world), index: dump(world.path('.sessions')) }).toEqual(before)
        rmSync(world.root, { recursive: true })
      }),
      { numRuns: cases(25) },
    )
  })

  test('keeps a checkpoint copy the same after later entries, late entries and its own retraction', async () => {
    const story = sweepStory()
    const checkpoint = story.add('checkpoint.made', { note: 'Before the refactor' })
    const world = await projectOf(story)
    const copies = () => Object.entries(views(world)).filter(([path]) => path.includes('/entries/'))
    const before = copies()
    expect(before).toHaveLength(1)
    // An entry minted before the checkpoint by another process, and written after it.
    const late = { ...story.entries[3]!, id: `${story.entries[3]!.id.slice(0, -6)}ffffff` }
    story.entries.push(late)
    story.add('entry.retracted', { entry: checkpoint })
    story.add('entry.amended', { entry: story.steps[0]!, changes: { text: 'Reworded' } })
    plant(world, story)
    deleteViews(world)
    await world.view()
    expect(copies()).toEqual(before)
  })

  test('is rebuilt alone or together with the others', async () => {
    const story = sweepStory()
    story.add('checkpoint.made', { note: 'One' })
    const world = await projectOf(story)
    const before = views(world)
    for (const path of Object.keys(before)) {
      rmSync(world.path('.sessions', path))
      await world.view()
      expect(views(world)).toEqual(before)
    }
  })

  test('that is already up to date is not rewritten', async () => {
    const world = await projectOf(sweepStory())
    const inodes = () =>
      Object.keys(views(world)).map((path) => statSync(world.path('.sessions', path)).ino)
    const before = inodes()
    await world.view()
    expect(inodes()).toEqual(before)
  })
})

describe('the session document', () => {
  test('renders the example of the format byte for byte', async () => {
    const world = await projectOf(seedStory())
    const example = readFileSync(
      join(import.meta.dirname, '../fixtures/documents/seed-example.md'),
      'utf8',
    )
    const [body, marker] = world.document().split(/\n(?=<!-- stint)/)
    expect(body).toBe(example)
    expect(marker).toMatch(/^<!-- stint: rendered from \d+ bytes [0-9a-f]{8} -->\n$/)
  })

  test('stays in its folder for any session name in a journal', async () => {
    for (const name of [
      '../../outside',
      '/etc/passwd',
      'a/b',
      '..',
      'a\u0000b',
      'x'.repeat(300),
      '日本',
    ]) {
      const story = new Story()
      story.entries[0] = { ...story.entries[0]!, data: { name } }
      const world = await projectOf(story)
      expect(world.messages).toEqual([])
      expect(world.documentPath()).toMatch(/^\.sessions\/active\/[a-z0-9-]+-890abc\.md$/)
      expect(world.names()).toEqual(['.sessions'])
      await world.run((project) => project.close({ how: 'completed' }))
      await world.view(SESSION_ID)
      expect(world.documentPath()).toMatch(/^\.sessions\/archive\/[a-z0-9-]+-890abc\.md$/)
    }
  })
})

describe('state.toon', () => {
  test('decodes to the written data with the reference decoder', () => {
    fc.assert(
      fc.property(anyStory, (story) => {
        expect(decode(renderStateToon(story.state).trimEnd())).toEqual(
          JSON.parse(JSON.stringify(summarizeSession(publicSession(story.state)))),
        )
      }),
      { numRuns: cases(200) },
    )
  })

  test('on disk matches the state', async () => {
    const world = await projectOf(sweepStory())
    const { state } = await world.view()
    expect(decode(world.read(JOURNAL, 'state.toon').trimEnd())).toEqual(
      JSON.parse(JSON.stringify(summarizeSession(publicSession(state)))),
    )
  })
})

describe('a snapshot', () => {
  /** The expected result of opening: the fold of the whole log. */
  const truth = (world: World) => abridge(fold(SESSION_ID, readLog(world.path(LOG)).records))
  const opened = (world: World) => world.run((project) => project.open(SESSION_ID))

  const parsed = (world: World) =>
    JSON.parse(world.read(SNAPSHOT)) as { fold: number; sum: string; state: { name: string } }

  test('that matches the log is used', async () => {
    const world = await projectOf(sweepStory())
    const log = new CountingLog({ path: world.path(LOG) })
    expect(readAbridgedState(SESSION_ID, log, world.path(SNAPSHOT)).state).toEqual(truth(world))
    expect(log.bytesRead).toBe(0)
    log.close()
  })

  test('older than the log is advanced over the entries since', async () => {
    const world = await projectOf(sweepStory())
    const old = world.read(SNAPSHOT)
    await world.run((project) =>
      project.log({ entries: [{ progress: 'Newer' }, { done: 'Implement fix' }] }),
    )
    world.write(SNAPSHOT, old)
    expect(await opened(world)).toEqual(truth(world))
  })

  test('older than a retraction is refolded', async () => {
    const story = sweepStory()
    const world = await projectOf(story)
    const old = world.read(SNAPSHOT)
    await world.run((project) => project.log({ retract: [story.steps[0]!] }))
    world.write(SNAPSHOT, old)
    expect(await opened(world)).toEqual(truth(world))
    expect((await opened(world)).steps.items).toHaveLength(4)
  })

  test('older than a late entry is refolded', async () => {
    const story = sweepStory()
    const world = await projectOf(story)
    const id = `${story.entries[3]!.id.slice(0, -6)}ffffff`
    const late = encodeRecord({
      id,
      at: story.entries[3]!.at,
      kind: 'step.added',
      by: 'cli',
      data: { text: 'Late' },
    })
    writeFileSync(world.path(LOG), late, { flag: 'a' })
    expect((await opened(world)).steps.items.map(({ text }) => text)).toContain('Late')
    expect(await opened(world)).toEqual(truth(world))
  })

  const changes: Readonly<Record<string, (world: World) => void>> = {
    'of another file': (world) => {
      const other = sweepStory()
      other.add('progress.made', { text: 'In another file' })
      world.write(`${LOG}.other`, Buffer.concat(other.entries.map(encodeRecord)))
      renameSync(world.path(`${LOG}.other`), world.path(LOG))
    },
    'of a log that was cut': (world) => {
      const lines = world.read(LOG).trimEnd().split('\n')
      truncateSync(world.path(LOG), Buffer.byteLength(`${lines.slice(0, -6).join('\n')}\n`))
    },
    'of a log that was cut and grew again': (world) => {
      const size = statSync(world.path(LOG)).size
      const lines = world.read(LOG).trimEnd().split('\n')
      truncateSync(world.path(LOG), Buffer.byteLength(`${lines.slice(0, -6).join('\n')}\n`))
      for (let n = 0; statSync(world.path(LOG)).size <= size; n += 1) {
        const last = readLog(world.path(LOG)).records.at(-1)!
        const id = `${last.id.slice(0, 24)}${(Number.parseInt(last.id.slice(24), 16) + 1).toString(16).padStart(12, '0')}`
        writeFileSync(
          world.path(LOG),
          encodeRecord({ ...last, id, kind: 'progress.made', data: { text: `Again ${n}` } }),
          {
            flag: 'a',
          },
        )
      }
    },
    'of a log edited at its beginning': (world) => {
      const story = sweepStory()
      const { data } = story.entries[0]!
      const records = readLog(world.path(LOG)).records
      const edited = [
        { ...records[0]!, data: { ...data, name: 'fix-sweep-rat' } },
        ...records.slice(1),
      ]
      writeFileSync(world.path(LOG), Buffer.concat(edited.map(encodeRecord)), { flag: 'r+' })
    },
    'of a log edited at its end': (world) => {
      const records = readLog(world.path(LOG)).records
      const edited = [...records.slice(0, -1), { ...records.at(-1)!, kind: 'context.unpacked!' }]
      writeFileSync(world.path(LOG), Buffer.concat(edited.map(encodeRecord)), { flag: 'r+' })
    },
    'of another fold version': (world) => {
      const { fold: version, sum: _sum, ...rest } = parsed(world)
      world.write(SNAPSHOT, withChecksum(JSON.stringify({ fold: version + 1, ...rest })).toString())
    },
    'whose state was changed': (world) => {
      world.write(SNAPSHOT, world.read(SNAPSHOT).replace('"status":"active"', '"status":"paused"'))
    },
    'that is half written': (world) => {
      const text = world.read(SNAPSHOT)
      world.write(SNAPSHOT, text.slice(0, text.length / 2))
    },
    'that is empty': (world) => world.write(SNAPSHOT, ''),
    'that is not an object': (world) => world.write(SNAPSHOT, 'null'),
    'that is an empty object': (world) => world.write(SNAPSHOT, '{}'),
    'of garbage': (world) =>
      world.write(SNAPSHOT, Buffer.from(Array.from({ length: 999 }, (_, n) => (n * 31) % 256))),
    'that is a folder': (world) => {
      rmSync(world.path(SNAPSHOT))
      world.write(join(SNAPSHOT, 'x'), '')
    },
  }
  test.each(Object.keys(changes))('%s is never used', async (change) => {
    const world = await projectOf(sweepStory())
    changes[change]!(world)
    // To detect a wrongly used snapshot, its state must differ from the log's.
    expect(await opened(world)).toEqual(truth(world))
  })

  test('opens a session of 10,000 entries by reading only the tail of its log', async () => {
    const world = plainProject()
    plant(world, longStory(10_000))
    await world.view()
    const end = statSync(world.path(LOG)).size
    const news = Buffer.concat([1, 2, 3].map((n) => encodeRecord(newerThan(world, n))))
    writeFileSync(world.path(LOG), news, { flag: 'a' })
    const wanted = truth(world)

    // A reader of the middle finds nothing there.
    const log = readFileSync(world.path(LOG))
    writeFileSync(world.path(LOG), log.fill(0x20, 10_000, end - 10_000), { flag: 'r+' })
    const counting = new CountingLog({ path: world.path(LOG) })
    expect(readAbridgedState(SESSION_ID, counting, world.path(SNAPSHOT)).state).toEqual(wanted)
    expect(counting.bytesRead).toBe(news.length)
    counting.close()
  })
})

/** Counts the bytes read, without the two ends that a snapshot is compared with. */
class CountingLog extends Log {
  bytesRead = 0

  override readFrom(offset: number) {
    const contents = super.readFrom(offset)
    this.bytesRead += contents.bytes.length
    return contents
  }
}

function longStory(entries: number): Story {
  const story = new Story()
  for (let n = 1; n < entries; n += 1) {
    if (n % 50 === 0) story.add('decision.made', { title: `Decision ${n}`, rationale: 'Because' })
    else if (n % 20 === 0)
      story.add('step.done', { step: story.add('step.added', { text: `Step ${n}` }) })
    else story.add('progress.made', { text: `Progress ${n}` })
  }
  return story
}

function newerThan(world: World, n: number) {
  const last = readLog(world.path(LOG)).records.at(-1)!
  const id = `${last.id.slice(0, 24)}${(Number.parseInt(last.id.slice(24), 16) + n).toString(16).padStart(12, '0')}`
  return { ...last, id, kind: 'progress.made', data: { text: `Newer ${n}` } }
}

function seedStory(): Story {
  const story = sweepStory()
  const idOf = (kind: string) => story.entries.find((entry) => entry.kind === kind)!.id
  story.add('task.linked', { task: '019def45-6789-7abc-0123-456789abcdef' })
  story.add('key.added', {
    text: 'Lock ordering: chain_watcher -> sweeper (not reverse!)',
    after: idOf('key.added'),
  })
  const last = story.add('next.added', { text: 'Document lock ordering in CONTRIBUTING.md' })
  const times = new Map([
    ...story.entries
      .filter((entry) => entry.kind === 'step.done')
      .map((entry, index) => [entry.id, ['10:30', '11:00', '12:00'][index]!] as const),
    [idOf('decision.made'), '12:15'] as const,
    [idOf('discovery.made'), '13:00'] as const,
    [last, '14:30'] as const,
  ])
  const timed = story.entries.map((entry) => {
    const time = times.get(entry.id)
    return time === undefined ? entry : { ...entry, at: `2025-01-15T${time}:00.000Z` }
  })
  story.entries.splice(0, story.entries.length, ...timed)
  return story
}
