import { describe, expect, test } from 'vitest'
import { measureConflicts, measureStale, measureUnreadable } from '../../bench/measure/failures.ts'
import { Lab } from '../../bench/measure/lab.ts'
import { type SourceChange, libraryWith } from './mutated-library.ts'

const GUARDS: readonly {
  readonly guard: string
  readonly measure: typeof measureStale
  readonly count: number
  readonly changes: readonly SourceChange[]
}[] = [
  {
    guard: 'the write before the acknowledgement raises the stale rate',
    measure: measureStale,
    count: 4,
    changes: [
      [
        'src/project/project-operations.ts',
        `return this.#session.append(
      entries.flatMap((entry) => logEntryDrafts(entry, () => this.state(), context)),
    )`,
        `const drafts = entries.flatMap((entry) => logEntryDrafts(entry, () => this.state(), context))
    setTimeout(() => this.#session.append(drafts), 300)
    return []`,
      ],
    ],
  },
  {
    guard: 'append-only writing raises the conflict rate',
    measure: measureConflicts,
    count: 4,
    changes: [
      [
        'src/journal/write-files.ts',
        'return open(path, O_RDWR | O_APPEND | O_NONBLOCK)\n',
        'return open(path, O_RDWR | O_NONBLOCK)\n',
      ],
      [
        'src/journal/write-files.ts',
        `    written = writeSync(fd, bytes, 0, bytes.length, null)
  } catch (cause) {`,
        `    const before = Buffer.alloc(fstatSync(fd).size)
    readSync(fd, before, 0, before.length, 0)
    const all = Buffer.concat([before, bytes])
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 40)
    written = writeSync(fd, all, 0, all.length, 0) - before.length
  } catch (cause) {`,
      ],
    ],
  },
  {
    guard: 'the newline before each record raises the unreadable rate',
    measure: measureUnreadable,
    count: 4,
    changes: [
      [
        'src/journal/record.ts',
        `return withChecksum(JSON.stringify({ v: FORMAT_VERSION, id, at, kind, by, once, data }), '\\n')`,
        `return Buffer.concat([withChecksum(JSON.stringify({ v: FORMAT_VERSION, id, at, kind, by, once, data })), Buffer.from('\\n')])`,
      ],
      [
        'src/journal/read-log.ts',
        'const inner = findRecords(text)',
        'const inner: ReturnType<typeof findRecords> = []',
      ],
    ],
  },
]

describe('removing', () => {
  test.each(GUARDS.map((one) => [one.guard, one] as const))(
    '%s',
    async (_, { measure, count, changes }) => {
      const lab = await Lab.open(undefined, await libraryWith(changes))
      try {
        const { happened, trials } = await measure({
          lab,
          store: 'stint',
          count,
          seed: 42,
          tried: () => undefined,
        })
        expect(trials).toBe(count)
        expect(happened).toBeGreaterThan(0)
      } finally {
        await lab.close()
      }
    },
  )
})
