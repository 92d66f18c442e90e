// A thread beside an import, which reads files for it. Nobody starts it by hand.
import { parentPort } from 'node:worker_threads'
import { serveFiles } from '../project/import/serve-files.ts'

if (parentPort !== null) serveFiles(parentPort)
