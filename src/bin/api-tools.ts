// The program beside Stint's own that uses tools for a bare model. Nobody starts it by hand.
import { serveTools } from '../harness/api/drive/tools/serve-tools.ts'

await serveTools(process.stdin, process.stdout, { cwd: process.cwd(), env: process.env })
