import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { DEFAULT_DELEGATES, DEFAULT_RUN } from '../../src/project/config/run-config.ts'
import { readConfig } from '../../src/project/config/read-config.ts'
import { DELEGATE_RULES, RUN_RULES } from '../../src/project/config/config-schema.ts'
import { scratchFolder } from '../support/scratch.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const read = (name: string) => readFileSync(join(root, name), 'utf8')
const configuration = /```yaml\n([^]*?)```/.exec(read('docs/configure.md'))![1]!
const { run: shown, delegates } = parse(configuration) as Readonly<Record<'run' | 'delegates', Readonly<Record<string, unknown>>>>

/** Settings without a default; the page shows examples of them. */
const WITHOUT_DEFAULT = new Set(['model', 'setup', 'files', 'allow'])

/** The rows of the table under a heading of the page on runs: name and second column. */
function rowsUnder(heading: string): readonly (readonly [string, string])[] {
  const section = read('docs/run.md').split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  const rows = [...section.matchAll(/^\| `([^`]+)` \| `?([^|]*?)`? \|/gm)]
  return rows.map((match) => [match[1]!, match[2]!] as const).filter(([name]) => name !== 'type')
}

describe('the page on runs', () => {
  test('names every event, and no other', () => {
    const kindsOf = (file: string, type: string) =>
      [...read(file).split(`interface ${type} {`)[1]!.split('\n}')[0]!.matchAll(/^ {2}'?([a-z.]+)'?: /gm)].map((match) => match[1]!)
    const kinds = [...kindsOf('src/run/entries.ts', 'RunEntryData'), ...kindsOf('src/run/entries.ts', 'LiveEventData')]
    expect(kinds.length).toBeGreaterThan(20)
    const section = read('docs/run.md').split('\n## Events\n')[1]!.split('\n## ')[0]!
    const named = [...section.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap((row) => [...row[1]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!))
    expect(named.toSorted()).toEqual(kinds.toSorted())
  })

  test('names every setting with its default, and no other', () => {
    const rows = rowsUnder('Settings')
    expect(rows.map(([name]) => name)).toEqual(Object.keys(RUN_RULES))
    for (const [name, standard] of rows) if (!WITHOUT_DEFAULT.has(name)) expect([name, standard]).toEqual([name, String(shown[name])])
  })
})

describe('the page on configuration', () => {
  test('shows every setting of runs, with its default where there is one', () => {
    expect(Object.keys(shown)).toEqual(Object.keys(RUN_RULES))
    const folder = scratchFolder()
    writeFileSync(join(folder, 'config.yaml'), configuration)
    const { run } = readConfig({ root: folder, sessions: folder })
    const { files: _, allow: __, ...defaults } = DEFAULT_RUN
    expect(run).toMatchObject(defaults)
  })

  test('shows every setting of delegates, with its default where there is one', () => {
    expect(Object.keys(delegates)).toEqual(Object.keys(DELEGATE_RULES))
    const folder = scratchFolder()
    writeFileSync(join(folder, 'config.yaml'), configuration)
    const { env: _, ...defaults } = DEFAULT_DELEGATES
    expect(readConfig({ root: folder, sessions: folder }).delegates).toMatchObject(defaults)
  })
})
