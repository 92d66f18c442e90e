// The program between us and an agent, as source text for `node -e`: it needs no file, whatever
// happens to the bundle.
//
// Descriptor 3 is a pipe that only we hold; when it closes, we are gone and everything is ended.
//
// An agent owns its process group and session, processes with the tag in their environment, and
// their descendants. Agents start shells in other groups, so the group alone misses some. Without
// /proc there is only the group.

export const GUARDIAN = String.raw`
'use strict'
const { spawn } = require('node:child_process')
const { closeSync, openSync, readFileSync, readdirSync, writeSync } = require('node:fs')
const { Socket } = require('node:net')

// How long remaining processes may take to exit before they are killed.
const GRACE = 2000
// A process stuck in the kernel cannot be waited for.
const KILL_ROUNDS = 100

let request, status, exited, deadline, ending
const signalled = new Set(), foreign = new Set(), found = new Set()

function isOurs(pid, [, parent, group, session]) {
  if (request.command !== undefined && [parent, group, session].includes(String(process.pid))) return true
  return request.mark.length >= 32 && readFileSync('/proc/' + pid + '/environ', 'latin1').includes(request.mark)
}

/** All processes of the agent except us and the spared one; undefined without /proc. */
function members() {
  let names
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return undefined
  }
  const parents = new Map(), ours = new Set()
  for (const name of names) {
    const pid = Number(name)
    if (pid === process.pid || pid === request.spare || foreign.has(pid)) continue
    try {
      const stat = readFileSync('/proc/' + pid + '/stat', 'latin1')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (fields[0] === 'Z' || fields[0] === 'X') continue
      parents.set(pid, Number(fields[1]))
      if (isOurs(pid, fields)) ours.add(pid)
    } catch {
      // It is gone, or belongs to another user.
    }
  }
  for (let size = -1; size !== ours.size; ) {
    size = ours.size
    for (const [pid, parent] of parents) if (ours.has(parent)) ours.add(pid)
  }
  return [...ours]
}

function send(pid, signal) {
  try {
    process.kill(pid, signal)
    found.add(pid)
  } catch (error) {
    if (error.code === 'EPERM') foreign.add(pid)
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function endMembers() {
  for (let round = 0, empty = 0, kills = 0; empty < 2 && kills < KILL_ROUNDS; round += 1) {
    const left = members()
    if (left === undefined) return endGroup()
    // A process in the middle of exec shows no environment, so it takes two empty rounds.
    empty = left.length === 0 ? empty + 1 : 0
    const isLate = performance.now() >= deadline
    if (isLate) kills += 1
    for (const pid of left) {
      if (isLate) send(pid, 'SIGKILL')
      else if (!signalled.has(pid)) send(pid, 'SIGTERM')
      signalled.add(pid)
    }
    await pause(round < 10 ? 15 : 60)
  }
}

async function endGroup() {
  if (request.command === undefined) return
  send(-process.pid, 'SIGTERM')
  while (performance.now() < deadline) await pause(50)
  await report()
  send(-process.pid, 'SIGKILL')
}

async function report() {
  if (exited) await Promise.race([exited, pause(1000)])
  try {
    writeSync(3, JSON.stringify({ ...status, found: found.size }) + '\n')
  } catch {
    // The parent is gone.
  }
}

function end(grace) {
  const at = performance.now() + grace
  deadline = deadline === undefined ? at : Math.min(deadline, at)
  ending ??= (request === undefined ? Promise.resolve() : endMembers().then(report)).then(() => process.exit(0))
}

function start(message) {
  request = message
  if (request.command === undefined) return end(request.grace)
  const child = spawn(request.command, request.args, { cwd: request.cwd, env: request.env, stdio: 'inherit' })
  // If we also held its input and output, they would stay open after it closes them.
  for (const fd of [0, 1]) {
    closeSync(fd)
    openSync('/dev/null', 'r+')
  }
  exited = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve((status = { code, signal })))
    child.once('error', (error) => {
      console.error(error.message)
      resolve((status = { code: 127, signal: null }))
    })
  })
  exited.then(() => end(GRACE))
}

let text = ''
const channel = new Socket({ fd: 3 })
channel.setEncoding('utf8')
channel.on('data', (chunk) => {
  const lines = (text + chunk).split('\n')
  text = lines.pop()
  for (const each of lines) {
    const message = JSON.parse(each)
    if (request === undefined) start(message)
    else end(message.grace)
  }
})
channel.on('error', () => end(GRACE))
channel.on('close', () => end(GRACE))
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => end(GRACE))
`

export type GuardianRequest =
  | {
      readonly mark: string
      readonly command: string
      readonly args: readonly string[]
      readonly cwd: string
      readonly env: NodeJS.ProcessEnv
    }
  | { readonly mark: string; readonly grace: number; readonly spare: number }

export interface GuardianReport {
  readonly code?: number | null
  readonly signal?: string | null
  readonly found: number
}
