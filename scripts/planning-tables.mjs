// Runs the planner on generated backlogs and updates the tables in the docs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'vite'

const root = join(import.meta.dirname, '..')
const server = await createServer({
  root,
  configFile: false,
  logLevel: 'error',
  server: { middlewareMode: true, ws: false },
})
try {
  const { countedPage } = await server.ssrLoadModule('/test/plan/figures.ts')
  writeFileSync(join(root, 'docs', 'planning.md'), countedPage())
} finally {
  await server.close()
}
