// What a command costs before it does anything: the processor time of `stint`, against that of `node -e 0`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './paired.mjs'
import { runCpu, runWall } from './processes.mjs'

const STINT = join(import.meta.dirname, '..', 'dist', 'stint.js')
const ROUNDS = 60
const WARM_UP = 2

/** The name, what is typed, and how many times the processor time of an empty program it may take. */
const COMMANDS = [
  ['the least of a command', ['--version'], 6],
  ['a list of one session', ['list'], 10],
  ['an entry', ['log', '--progress', 'One more handler is moved'], 12],
]

export async function run({ scale = 1, say = () => {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-loading-'))
  try {
    const world = makeWorld(folder)
    const rounds = Math.max(5, Math.round(ROUNDS * scale))
    say(`loading: ${rounds} rounds of ${COMMANDS.length} commands`)
    return [
      ...measured('CPU', world, rounds, runCpu(folder), true),
      ...measured('wall', world, rounds, runWall, false),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function makeWorld(folder) {
  const [root, home] = [join(folder, 'project'), join(folder, 'home')]
  mkdirSync(home)
  execFileSync('git', ['init', '-q', '-b', 'main', root])
  const world = {
    root,
    env: { PATH: process.env.PATH, HOME: home, STINT_STATE_HOME: join(folder, 'state') },
  }
  runWall(process.execPath, [STINT, 'init', '--name', 'bench', '--goal', 'Be listed'], world)
  return world
}

function measured(what, world, rounds, runOne, isLimited) {
  const times = COMMANDS.map(() => ({ ours: [], bare: [] }))
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const [index, [, args]] of COMMANDS.entries()) {
      const ways = { ours: [STINT, ...args], bare: ['-e', '0'] }
      for (const which of round % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours']) {
        const { time } = runOne(process.execPath, ways[which], world)
        if (round >= 0) times[index][which].push(time)
      }
    }
  }
  return COMMANDS.map(([name, args, most], index) => {
    const [ours, bare] = [median(times[index].ours), median(times[index].bare)]
    const ratio = ours / bare
    const figures = {
      name: `${name}, \`stint ${args[0]}\`, ${what}, against \`node -e 0\``,
      ours,
      bare,
      ratio,
    }
    return isLimited
      ? { ...figures, limit: `at most ${most}`, ok: ratio <= most }
      : { ...figures, ok: true }
  })
}
