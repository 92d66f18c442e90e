#!/usr/bin/env node
// A hook is served by the program made for it; loading all the commands for one would cost more than the rest.
import { createRequire } from 'node:module'

const [, , command, ...rest] = process.argv
const isHook =
  (command === 'hook' && (rest.length === 0 || rest[0] === 'after')) || (command === 'statusline' && rest.length === 0)

if (isHook) {
  createRequire(import.meta.url)('./hook.cjs')
} else {
  // Not awaited here: a bundle whose entry waits is cut into many more files, and each takes time to load.
  void import('../cli/main.ts').then(({ main }) => main(new URL('../package.json', import.meta.url)))
}
