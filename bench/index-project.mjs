// A generated project with many sessions for the index benchmark. Deterministic.
import { closeSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const SYLLABLES = [
  'ba',
  'ke',
  'li',
  'mo',
  'nu',
  'ra',
  'se',
  'ti',
  'vo',
  'zu',
  'dra',
  'fle',
  'gri',
  'plo',
  'stu',
  'wy',
]
const VOCABULARY = 20_000
const START = Date.parse('2026-01-01T00:00:00.000Z')
const BRANCHES = ['main', 'develop', 'release', 'feature-a', 'feature-b']

/** How many entries contain the word `hits<n>`. */
export const HIT_COUNTS = [1, 100, 10_000]

/** Seeded pseudo-random numbers. */
function generator(seed) {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function word(n) {
  return (
    SYLLABLES[n % 16] +
    SYLLABLES[(n >> 4) % 16] +
    SYLLABLES[(n >> 8) % 16] +
    (n >> 12 === 0 ? '' : SYLLABLES[(n >> 12) % 16])
  )
}

/** Writes `sessions` logs with ten entries each, without syncing. */
export function generateProject(
  project,
  sessions,
  { encodeRecord, mintId },
  progress = () => undefined,
) {
  const random = generator(7)
  const entries = sessions * 10
  const markers = HIT_COUNTS.map((count) => ({
    text: ` hits${count}`,
    every: Math.max(1, Math.floor(entries / count)),
    left: count,
  }))
  // A few words are frequent and most are rare, as in prose.
  const sentence = (length) =>
    Array.from({ length }, () => word(Math.floor(VOCABULARY * random() ** 3))).join(' ')
  let id
  let now = START
  let written = 0
  for (let n = 0; n < sessions; n += 1) {
    const session = (id = mintId(id, (now += 60_000)))
    const folder = join(project, '.sessions', 'journal', session)
    mkdirSync(folder, { recursive: true })
    const records = []
    const add = (kind, data) => {
      let text = ''
      for (const marker of markers)
        if (marker.left > 0 && written % marker.every === 0 && (marker.left -= 1) >= 0)
          text += marker.text
      written += 1
      const marked = text === '' ? data : { ...data, note: text }
      id = mintId(id, (now += 500))
      records.push(
        encodeRecord({ id, at: new Date(now).toISOString(), kind, by: 'bench', data: marked }),
      )
    }
    const branch = BRANCHES[n % BRANCHES.length]
    add('session.opened', {
      name: `${word(n % VOCABULARY)}-${n}`,
      goal: sentence(8),
      git: { branch },
    })
    add('step.added', { text: sentence(5) })
    add('task.linked', { task: `t-${n % 5_000}` })
    add('decision.made', { title: sentence(6), rationale: sentence(15) })
    for (let m = 0; m < 4; m += 1) add('note.added', { text: sentence(12) })
    add('discovery.made', { text: sentence(10) })
    if (n % 10 === 0) add('session.paused', {})
    else if (n % 10 === 1) add('progress.made', { text: sentence(8) })
    else add('session.closed', { how: n % 10 === 2 ? 'abandoned' : 'completed' })
    const fd = openSync(join(folder, 'log.jsonl'), 'w')
    writeSync(fd, Buffer.concat(records))
    closeSync(fd)
    if (n % 1_000 === 0) progress(n, sessions)
  }
  return sourceOf(project)
}

export function sourceOf(project) {
  const folder = join(project, '.sessions')
  const journal = join(folder, 'journal')
  return {
    project,
    folder,
    prepare: () => undefined,
    sessionIds: () => readdirSync(journal),
    log: (id) => ({ path: join(journal, id, 'log.jsonl') }),
  }
}
