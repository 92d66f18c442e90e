// Counts the tokens of a session in each format and updates the table in the docs.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from '../bench/bundle.mjs'

const page = join(import.meta.dirname, '..', 'docs', 'export.md')
const bundle = await bundleSources({ 'test/document/export/token-table.ts': ['tokenTable'] })
try {
  const { tokenTable } = await import(pathToFileURL(bundle.file).href)
  const between = /(<!-- tokens -->\n)[\s\S]*?(\n<!-- end of tokens -->)/
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(
      between,
      (_, before, after) => `${before}${tokenTable()}${after}`,
    ),
  )
} finally {
  bundle.remove()
}
