// Counts what Stint saves and what it costs, and puts the tables into the page that shows them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'vite'

const root = join(import.meta.dirname, '..')
// Not bundled: what it measures looks for recorded outputs beside itself.
const server = await createServer({
  root,
  configFile: false,
  logLevel: 'error',
  server: { middlewareMode: true, ws: false },
})
try {
  const { countedPage } = await server.ssrLoadModule('/test/savings/tables.ts')
  writeFileSync(join(root, 'docs', 'savings.md'), await countedPage())
} finally {
  await server.close()
}
