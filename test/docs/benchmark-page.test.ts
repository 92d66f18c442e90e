import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const { BENCHES } = (await part('benches')) as { BENCHES: Readonly<Record<string, string>> }
const { sectionIn } = (await part('table')) as { sectionIn(page: string, name: string): string | undefined }

/** The benchmark runner is plain JavaScript, so it is imported by path. */
function part(name: string): Promise<unknown> {
  return import(/* @vite-ignore */ pathToFileURL(join(root, 'bench', `${name}.mjs`)).href)
}

const page = readFileSync(join(root, 'docs', 'benchmarks.md'), 'utf8')

describe('the benchmark page', () => {
  test.each(Object.keys(BENCHES))('shows rows of %s with date and machine, none over its limit', (name) => {
    const [machine, , head, , ...rows] = sectionIn(page, name)!.split('\n')
    expect(machine).toMatch(/^20\d\d-\d\d-\d\d, Node v[\d.]+, \w+ \w+, \d+ cores$/)
    expect(head).toMatch(/^\| what \|/)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter((row) => /OVER|FAILED/.test(row))).toEqual([])
  })

  test('shows only existing benchmarks', () => {
    const shown = [...page.matchAll(/^<!-- bench (\S+) -->$/gm)].map((match) => match[1])
    expect(shown).toEqual(Object.keys(BENCHES))
  })
})
