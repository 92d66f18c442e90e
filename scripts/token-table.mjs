// Counts what a session costs in each form, and puts the table into the page that shows it.
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
