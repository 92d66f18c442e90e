// Time of whole commands, against `node -e 0`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProject } from '../dist/library.mjs'
import { median } from './paired.mjs'
import { runCpu, runWall } from './processes.mjs'

const STINT = join(import.meta.dirname, '..', 'dist', 'stint.js')
const ROUNDS = 60
const WARM_UP = 2

const LOG = [
  'log',
  '--decision',
  'Handlers return a result',
  '--rationale',
  'Throwing hides the path',
]

/**
 * Name, arguments, entries in the journal, and the limit as a multiple of the time of an empty
 * program.
 */
const COMMANDS = [
  ['the version', ['--version'], 10, 1.4],
  ['a list of one session', ['list'], 10, 2.5],
  ['an entry in a journal of 10', LOG, 10, 3],
  ['an entry in a journal of 10,000', LOG, 10_000, 6],
]

export async function run({ scale = 1, say = () => {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-loading-'))
  try {
    const worlds = new Map()
    for (const entries of new Set(COMMANDS.map(([, , entries]) => entries)))
      worlds.set(entries, await makeWorld(join(folder, String(entries)), entries))
    const rounds = Math.max(5, Math.round(ROUNDS * scale))
    say(`loading: ${rounds} rounds of ${COMMANDS.length} commands`)
    return [
      ...measured('wall', worlds, rounds, runWall, true),
      ...measured('CPU', worlds, rounds, runCpu(folder), false),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function makeWorld(folder, entries) {
  const [root, home] = [join(folder, 'project'), join(folder, 'home')]
  mkdirSync(home, { recursive: true })
  execFileSync('git', ['init', '-q', '-b', 'main', root])
  const env = { PATH: process.env.PATH, HOME: home, STINT_STATE_HOME: join(folder, 'state') }
  const project = openProject(root, { env })
  await project.init({ name: 'bench', goal: 'Be listed' })
  const session = await project.session()
  const numbers = Array.from({ length: entries - 1 }, (_, index) => index + 2)
  session.append(numbers.map((number) => ({ progress: `Moved handler ${number}` })))
  session.close()
  project.dispose()
  return { root, env }
}

function measured(label, worlds, rounds, runOne, isLimited) {
  const times = COMMANDS.map(() => ({ ours: [], bare: [] }))
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const [index, [, args, entries]] of COMMANDS.entries()) {
      const ways = { ours: [STINT, ...args], bare: ['-e', '0'] }
      for (const which of round % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours']) {
        const { time } = runOne(process.execPath, ways[which], worlds.get(entries))
        if (round >= 0) times[index][which].push(time)
      }
    }
  }
  return COMMANDS.map(([name, args, , most], index) => {
    const [ours, bare] = [median(times[index].ours), median(times[index].bare)]
    const ratio = ours / bare
    const figures = {
      name: `${name}, \`stint ${args[0]}\`, ${label}, against \`node -e 0\``,
      ours,
      bare,
      ratio,
    }
    return isLimited
      ? { ...figures, limit: `at most ${most}`, ok: ratio <= most }
      : { ...figures, ok: true }
  })
}
