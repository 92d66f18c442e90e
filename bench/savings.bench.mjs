// The savings claimed for session layers, next to Stint's: the rows of docs/savings.md recounted,
// and the saved time, which has to be measured.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'vite'
import { median } from './paired.mjs'
import { runWall } from './processes.mjs'

export const columns = { ours: 'after', bare: 'before', limit: 'claimed' }

const ROOT = join(import.meta.dirname, '..')
const STINT = join(ROOT, 'dist', 'stint.js')
const SIDE_BY_SIDE = 4
/** Simulated model latency per task. */
const WAIT_MS = 5000

export async function run({ scale = 1, say = () => {} } = {}) {
  return [...(await counted()), await backgroundAgents(scale, say)]
}

async function counted() {
  // Not bundled: it finds the recorded outputs relative to its own file.
  const server = await createServer({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    server: { middlewareMode: true, ws: false },
  })
  try {
    const { claims, givenBySize, runClaims } = await server.ssrLoadModule('/test/savings/claims.ts')
    const { countHere } = await server.ssrLoadModule('/test/survey/count-here.ts')
    const techniques = await claims(await givenBySize(), countHere())
    const runs = runClaims().map(({ tasks, ...claim }) => ({
      technique: `${tasks} tasks in one conversation`,
      ...claim,
    }))
    return [...techniques, ...runs].flatMap(rowsOf)
  } finally {
    await server.close()
  }
}

function rowsOf({ technique, claimed, comparisons }) {
  const promised = claimed[1] / claimed[0]
  return comparisons.map(({ compared, before, after, isRecorded = false }) => {
    const ratio = after / before
    const figures = {
      name: `${technique}: ${compared}${isRecorded ? ' (recorded)' : ''}`,
      ours: after,
      bare: before,
      unit: 'tokens',
      ratio,
    }
    const limit = `${claimed[0].toLocaleString('en')} → ${claimed[1].toLocaleString('en')}, ${promised.toFixed(2)}`
    return {
      ...figures,
      limit,
      ok: true,
      instead: ratio <= promised ? 'as much' : ratio < 1 ? 'less' : 'nothing saved',
    }
  })
}

/**
 * The same tasks by one agent and by several in parallel; a script stands in for the model and
 * waits as long.
 */
async function backgroundAgents(scale, say) {
  const wait = Math.max(500, Math.round(WAIT_MS * Math.min(scale, 1)))
  const rounds = scale < 1 ? 1 : 3
  say(`savings: ${SIDE_BY_SIDE} tasks, one after another and side by side, ${rounds} times`)
  const times = { before: [], after: [] }
  for (let round = 0; round < rounds; round += 1) {
    for (const which of round % 2 === 0 ? ['before', 'after'] : ['after', 'before'])
      times[which].push(timeOf(which, wait))
  }
  const [before, after] = [median(times.before), median(times.after)]
  return {
    name: `Background agents: ${SIDE_BY_SIDE} tasks that each wait ${wait / 1000} s for a model: one after another / side by side`,
    ours: after / 1000,
    bare: before / 1000,
    unit: 's',
    ratio: after / before,
    limit: 'time',
    ok: true,
    instead: after < before ? 'saved' : 'nothing saved',
  }
}

function timeOf(which, wait) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-savings-'))
  try {
    const world = makeWorld(folder, wait)
    const parallel = which === 'after' ? ['--parallel', String(SIDE_BY_SIDE)] : []
    return runWall(
      process.execPath,
      [STINT, 'run', '--harness', 'rehearsal', '--script', 'script.yml', ...parallel],
      world,
    ).time
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function makeWorld(folder, wait) {
  const [root, home] = [join(folder, 'project'), join(folder, 'home')]
  mkdirSync(home)
  const gitconfig = join(folder, 'gitconfig')
  writeFileSync(
    gitconfig,
    '[user]\n\tname = Bench\n\temail = bench@example.invalid\n[init]\n\tdefaultBranch = main\n',
  )
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    STINT_STATE_HOME: join(folder, 'state'),
    GIT_CONFIG_GLOBAL: gitconfig,
  }
  execFileSync('git', ['init', '-q', root], { env })
  const names = Array.from({ length: SIDE_BY_SIDE }, (_, index) => `part-${index + 1}`)
  const acts = (name) =>
    [
      `wait: ${wait}`,
      `write: { path: ${name}.txt, text: "done\\n" }`,
      `commit: ${name}`,
      'usage: 2000',
      'done: Done.',
    ].map((act, index) => `    ${index === 0 ? '- -' : '  -'} ${act}`)
  writeFileSync(
    join(root, 'script.yml'),
    ['tasks:', ...names.flatMap((name) => [`  ${name}:`, ...acts(name)]), ''].join('\n'),
  )
  const world = { root, env }
  for (const name of names) runWall(process.execPath, [STINT, 'task', 'add', `${name} !S`], world)
  for (const args of [
    ['add', '.'],
    ['commit', '-q', '-m', 'start'],
  ])
    execFileSync('git', args, { cwd: root, env })
  return world
}
