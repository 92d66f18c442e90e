// Runs the simulation again and updates its tables in the docs.
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
  const { countedPages, publishedStudy } = await server.ssrLoadModule('/test/simulate/pages.ts')
  const { study, sensitivity } = await publishedStudy()
  for (const [name, page] of Object.entries(countedPages(study, sensitivity)))
    writeFileSync(join(root, name), page)
} finally {
  await server.close()
}
