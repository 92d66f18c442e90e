import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { blocks, pages, root } from './pages.ts'

describe('every command shown in', () => {
  test('a shell block is run by .ci/run as well', () => {
    const ci = readFileSync(join(root, '.ci', 'run'), 'utf8')
    for (const page of pages) {
      for (const line of blocks(page, 'sh').flatMap((block) => block.trim().split('\n'))) {
        for (const part of line.split(' && ')) expect(ci).toContain(part)
      }
    }
  })
})

describe('the docs', () => {
  test('link only to files that exist', () => {
    const names = ['README.md', 'ARCHITECTURE.md', 'PROMISES.md', 'AGENTS.md', 'CONTRIBUTING.md', 'CONTEXT.md', 'CHANGELOG.md', ...pages]
    const missing = names.flatMap((name) => {
      const text = readFileSync(join(root, name), 'utf8')
      const links = [...text.matchAll(/\]\(([^)#]+?)(?:#[^)]*)?\)/g)].map((match) => match[1]!).filter((link) => !/^https?:/.test(link))
      return links.filter((link) => !existsSync(join(root, dirname(name), link))).map((link) => `${name}: ${link}`)
    })
    expect(missing).toEqual([])
  })
})
