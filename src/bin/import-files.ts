// Worker thread that reads files for an import. Started by the import only.
import { parentPort } from 'node:worker_threads'
import { loadProgram } from './stint.ts'

if (parentPort !== null) {
  const port = parentPort
  void loadProgram('import')
    .importFiles()
    .then(({ serveImportJobs }) => serveImportJobs(port))
}
