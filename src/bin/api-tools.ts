// Runs the tools of a bare model in a separate process. Started by the api harness only.
import { loadProgram } from './stint.ts'

void loadProgram('tools')
  .tools()
  .then(({ serveTools }) =>
    serveTools(process.stdin, process.stdout, { cwd: process.cwd(), env: process.env }),
  )
