// The program beside Stint's own that uses tools for a bare model. Started by the api harness only.
import { loadProgram } from './stint.ts'

void loadProgram('tools')
  .tools()
  .then(({ serveTools }) =>
    serveTools(process.stdin, process.stdout, { cwd: process.cwd(), env: process.env }),
  )
