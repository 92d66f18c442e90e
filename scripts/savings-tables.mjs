// Counts Stint's savings and costs and updates the tables in the docs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'vite'

const root = join(import.meta.dirname, '..')
// Not bundled: it finds the recorded outputs relative to its own file.
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
