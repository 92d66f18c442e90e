#!/usr/bin/env node
// Hooks have programs of their own. Everything else is in one bundle, of which a command loads what
// it needs.
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { ProgramBundle } from './program-bundle.ts'

/** The file name of the bundle, set by the build. */
declare const PROGRAM: string

type Program = typeof import('./program.ts')

const PACKAGE = `${__dirname}/../package.json`
const [, , command = '', ...rest] = process.argv

/** For the other entry points. */
export const loadProgram = (use: string): Program =>
  new ProgramBundle(PROGRAM, use).load('program.js') as Program

async function runCommand(): Promise<void> {
  const use = /^[a-z]{2,20}$/.test(command) ? command : 'other'
  const bundle = new ProgramBundle(PROGRAM, use)
  const program = bundle.load('program.js') as Program
  const packageJson = pathToFileURL(PACKAGE)
  if (command === 'mcp' && rest.length === 0)
    await (await program.mcp()).serveCurrentFolder(packageJson)
  else await (await program.cli()).main(packageJson)
  await bundle.cache()
  // If nothing is pending, exiting here skips tearing down the heap.
  if (isIdle()) process.exit()
}

function isIdle(): boolean {
  const isWritten = [process.stdout, process.stderr].every((out) => out.writableLength === 0)
  return isWritten && process.getActiveResourcesInfo().every((name) => STANDARD.has(name))
}

/** Resources of standard input, output and error. */
const STANDARD: ReadonlySet<string> = new Set(['TTYWrap', 'PipeWrap'])

if (require.main === module) {
  if (
    (command === 'hook' && (rest.length === 0 || rest[0] === 'after')) ||
    (command === 'statusline' && rest.length === 0)
  ) {
    require(`${__dirname}/hook.cjs`)
  } else if ((command === '--version' || command === '-v') && rest.length === 0) {
    const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }
    process.stdout.write(`${version}\n`)
  } else {
    void runCommand()
  }
}
