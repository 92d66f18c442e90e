// Importing gigabytes of generated transcripts, against parsing each line as JSON in the same
// process: until all is stored, and until all can be searched. Also the memory of an import,
// against one of a quarter of the size.
import { closeSync, mkdtempSync, openSync, readSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { generateTranscripts } from './import-transcripts.mjs'
import { median } from './paired.mjs'
import { peakMemory } from './processes.mjs'

/** The installed build, because only it uses several threads. */
const LIBRARY = pathToFileURL(join(import.meta.dirname, '..', 'dist', 'library.mjs')).href
const BYTES = 2_000_000_000
/** Lowest rate relative to plain parsing. */
const RATIO_LIMIT = 0.5
/** Memory limit of an import of four times the size: noise, but no growth. */
const MEMORY_LIMIT = 1.25
const ROUNDS = 3
const CHUNK = 1024 * 1024

/** Runs everything at a fraction of the full size. `ok` is false if a limit is exceeded. */
export async function run({ scale = 1, say = console.error } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-import-'))
  try {
    const { openProject } = await import(LIBRARY)
    const large = join(folder, 'large')
    const bytes = generateTranscripts(
      large,
      '/nowhere/project',
      Math.max(20_000_000, BYTES * scale),
    )
    say(`importing ${(bytes / 1e6).toFixed(0)} MB of transcripts`)
    const times = { ours: [], bare: [], searchable: [] }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const which of round % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours']) {
        const project = mkdtempSync(join(folder, 'project-'))
        const started = performance.now()
        let stored
        const tell = ({ isIndexing }) => {
          if (isIndexing !== true) stored = performance.now()
        }
        if (which === 'bare') parseAll(large)
        else
          await openProject(project).importHistories({
            harnesses: ['claude'],
            paths: [large],
            tell,
          })
        const ended = performance.now()
        times[which].push((stored ?? ended) - started)
        if (stored !== undefined) times.searchable.push(ended - started)
        rmSync(project, { recursive: true })
      }
    }
    const [ours, bare] = [median(times.ours), median(times.bare)]
    const ratio = bare / ours
    const amount = `import of ${(bytes / 1e6).toFixed(0)} MB`
    const rate = { name: `${amount}, stored, against JSON.parse of its lines`, ours, bare, ratio }
    const searchable = median(times.searchable)
    return [
      { ...rate, limit: `at least ${RATIO_LIMIT}`, ok: ratio >= RATIO_LIMIT },
      {
        name: `${amount}, stored and searchable`,
        ours: searchable,
        bare,
        ratio: bare / searchable,
        ok: true,
      },
      memory(folder, large, bytes),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The minimum: reading every line once. */
function parseAll(folder) {
  let count = 0
  for (const name of readdirSync(folder)) {
    const fd = openSync(join(folder, name), 'r')
    let rest = Buffer.alloc(0)
    for (let at = 0; ;) {
      const chunk = Buffer.allocUnsafe(CHUNK)
      const read = readSync(fd, chunk, 0, CHUNK, at)
      if (read === 0) break
      at += read
      const bytes =
        rest.length === 0 ? chunk.subarray(0, read) : Buffer.concat([rest, chunk.subarray(0, read)])
      let start = 0
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
        if (JSON.parse(bytes.toString('utf8', start, end)) !== null) count += 1
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
    closeSync(fd)
  }
  return count
}

/**
 * A quarter of the data in files of the same size, so that memory per file and per thread is the
 * same.
 */
function memory(folder, large, bytes) {
  const smaller = join(folder, 'smaller')
  const ofSmaller = generateTranscripts(smaller, '/nowhere/project', bytes / 4)
  const peak = (transcripts) => {
    const project = mkdtempSync(join(folder, 'project-'))
    return peakMemory(`import { openProject } from ${JSON.stringify(LIBRARY)}
      await openProject(${JSON.stringify(project)}).importHistories({ harnesses: ['claude'], paths: [${JSON.stringify(transcripts)}], threads: 2 })`)
  }
  const [quarter, whole] = [peak(smaller), peak(large)]
  const name = `memory of an import of ${(bytes / 1e6).toFixed(0)} MB, against one of ${(ofSmaller / 1e6).toFixed(0)} MB`
  const figures = { name, ours: whole, bare: quarter, unit: 'MB', ratio: whole / quarter }
  return { ...figures, limit: `at most ${MEMORY_LIMIT}`, ok: whole / quarter <= MEMORY_LIMIT }
}
