import { execFile } from 'node:child_process'
import { readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readLog } from '../../src/journal/read-log.ts'
import { fold } from '../../src/session/fold.ts'
import { checksum } from '../../src/journal/record.ts'
import { renderDocument } from '../../src/document/render.ts'
import { renderProgress } from '../../src/document/progress-file.ts'
import { renderStateJson } from '../../src/document/state-files.ts'
import { type World, gitProject } from '../support/project.ts'

const PROGRAM = join(import.meta.dirname, '../../dist/stint.js')
const PROCESSES = 8
const EACH = 5

const run = promisify(execFile)
const stint = (world: World, ...args: string[]) =>
  run(process.execPath, [PROGRAM, ...args], { cwd: world.root })

/** Two ways in which editors save: in place, and by renaming a new file over it. */
const SAVES: Readonly<Record<string, (path: string, text: string) => void>> = {
  'in place': (path, text) => writeFileSync(path, text),
  'by renaming': (path, text) => {
    writeFileSync(`${path}~`, text)
    renameSync(`${path}~`, path)
  },
}

describe('eight processes that log concurrently', () => {
  test.each(Object.keys(SAVES))(
    'lose and duplicate nothing, nor an edit saved %s at the same time',
    async (way) => {
      const world = gitProject()
      await stint(world, 'init', '--name', 'work', '--goal', 'Share the log')
      await stint(world, 'log', '--step', 'First', '--next', 'Second')
      const path = world.path(world.documentPath())

      const lanes = Array.from({ length: PROCESSES }, async (_, lane) => {
        for (let n = 0; n < EACH; n += 1)
          await stint(
            world,
            'log',
            '--progress',
            `lane ${lane} entry ${n}`,
            '--key',
            `fact ${lane}.${n}`,
          )
      })
      const logging = { isOver: false }
      const logged = Promise.all(lanes).finally(() => (logging.isOver = true))
      await Promise.all([logged, edit(path, SAVES[way]!, logging)])

      const log = readLog(world.path('.sessions', 'journal', world.sessionId(), 'log.jsonl'))
      const state = fold(world.sessionId(), log.records)
      const wanted = Array.from({ length: PROCESSES }, (_, lane) =>
        Array.from({ length: EACH }, (__, n) => `lane ${lane} entry ${n}`),
      ).flat()
      expect(state.progress.items.map(({ text }) => text).toSorted()).toEqual(wanted.toSorted())
      expect(state.key.items).toHaveLength(PROCESSES * EACH)
      expect(state.next.items.map(({ text }) => text)).toEqual(['Second', 'Written by hand'])
      expect(state.steps.items.map(({ text, status }) => [text, status])).toEqual([
        ['First', 'started'],
        ['Ticked by hand', 'done'],
      ])
      expect(state.sections.items.map(({ title }) => title)).toEqual(['By hand'])
      expect(log.damage).toEqual([])
      expect(
        log.records.filter(({ kind }) => kind === 'entry.retracted' || kind === 'entry.amended'),
      ).toEqual([])

      // The document is current without any further command.
      const marker = { offset: log.end, sum: checksum(log.bytes.subarray(0, log.end)) }
      expect(readFileSync(path, 'utf8')).toBe(renderDocument(state, marker))
      const view = (name: string) => world.read('.sessions', 'journal', world.sessionId(), name)
      expect(view('progress.md')).toBe(renderProgress(state))
      expect(view('state.json')).toBe(renderStateJson(state))
      expect(leftBehind(world)).toEqual([])
    },
  )
})

test('absorbs an edit once when six processes find it at the same time', async () => {
  const world = gitProject()
  await stint(world, 'init', '--name', 'work')
  await stint(world, 'log', '--step', 'First', '--step', 'Last')
  world.edit('### Remaining\n', '### Remaining\n- [ ] Between\n- [x] Ticked by hand\n')
  world.edit(
    '\n## Blockers\n',
    '\n## By hand\nA section.\n\n## Also by hand\nAnother.\n\n## Blockers\n',
  )
  await Promise.all(Array.from({ length: 6 }, () => stint(world, 'view')))
  const { state, marker } = await world.view()
  expect(state.steps.items.map(({ text, status }) => [text, status])).toEqual([
    ['First', 'started'],
    ['Between', 'todo'],
    ['Ticked by hand', 'done'],
    ['Last', 'todo'],
  ])
  expect(state.sections.items.map(({ title }) => title)).toEqual(['By hand', 'Also by hand'])
  expect(world.document()).toBe(renderDocument(state, marker))
  expect(leftBehind(world)).toEqual([])
})

/** Writes into the document like a user who opened it before others logged more. */
async function edit(
  path: string,
  save: (path: string, text: string) => void,
  logging: { readonly isOver: boolean },
): Promise<void> {
  let opened = readDocument(path)
  for (; !opened.includes('entry 0'); opened = readDocument(path)) await sleep(20)
  while (['', opened].includes(readDocument(path)) && !logging.isOver) await sleep(20)
  const text = opened
    .replace('## Next Steps\n1. Second\n', '## Next Steps\n1. Second\n2. Written by hand\n')
    .replace('### Remaining\n', '### Remaining\n- [x] Ticked by hand\n')
    .replace('\n## Blockers\n', '\n## By hand\nA section.\n\n## Blockers\n')
  save(path, text)
}

/** Empty while a command has the document under another name. */
function readDocument(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return ''
  }
}

function leftBehind(world: World): readonly string[] {
  const names = readdirSync(world.path('.sessions'), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /taken-|\.tmp$|set-aside/.test(name))
}
