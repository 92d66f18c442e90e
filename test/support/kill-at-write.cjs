// Preloaded into a program: kills it, as `kill -9` does, just before the write call whose number is in KILL_AT_WRITE.
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

let left = Number(process.env.KILL_AT_WRITE)
const WRITES = [
  'appendFileSync',
  'fdatasyncSync',
  'fsyncSync',
  'linkSync',
  'mkdirSync',
  'renameSync',
  'rmSync',
  'unlinkSync',
  'writeFileSync',
  'writeSync',
]
for (const name of WRITES) {
  const call = fs[name]
  fs[name] = (...args) => {
    left -= 1
    if (left === 0) process.kill(process.pid, 'SIGKILL')
    return call(...args)
  }
}
syncBuiltinESMExports()
