// A thread beside an import, which reads files for it. Started by the import only.
import { parentPort } from 'node:worker_threads'
import { load } from './stint.ts'

if (parentPort !== null) {
  const port = parentPort
  void load('import')
    .importFiles()
    .then(({ serveFiles }) => serveFiles(port))
}
