import type { SessionState } from '../../session/state.ts'
import type { FileToReview } from './facts.ts'
import { insideOf, probeFile } from './probes/file-exists.ts'
import type { Surroundings } from './probes/surroundings.ts'

/** More than anybody reads. */
const MOST = 60

/**
 * The files a successor has to look at, each once, the most telling first: where tests fail, what somebody called key,
 * what was changed and why, and then the rest of what is uncommitted or was changed.
 */
export function filesToReview(state: SessionState, now: Surroundings): readonly FileToReview[] {
  const found = new Map<string, string[]>()
  const add = (path: string, why: string) => {
    const known = found.get(path) ?? []
    if (!known.includes(why)) found.set(path, [...known, why])
  }
  const changed = state.changedFiles.items.toSorted((a, b) => (a.at < b.at ? 1 : -1))
  for (const { path, command } of failingFiles(state, now)) add(path, `fails in ${command}`)
  for (const { text, description } of state.keyFiles.items)
    add(pathFrom(now, text), description ?? 'key file')
  for (const { text, description } of changed)
    if (description !== undefined) add(pathFrom(now, text), description)
  for (const path of now.dirty ?? []) add(path, 'uncommitted')
  for (const { text, description } of changed)
    if (description === undefined) add(pathFrom(now, text), 'changed')
  return [...found].slice(0, MOST).map(([path, why]) => ({
    path,
    // That it was changed says nothing beside a reason.
    why: (why.length > 1 ? why.filter((one) => one !== 'changed') : why).join('; '),
    verdict: probeFile(now, path),
  }))
}

function pathFrom(now: Surroundings, path: string): string {
  return insideOf(now.root, path) ?? path
}

/** The files that failing tests name, as far as the project has them. */
function failingFiles(
  state: SessionState,
  now: Surroundings,
): readonly { path: string; command: string }[] {
  return state.tests.items
    .filter((run) => !run.passed)
    .toReversed()
    .flatMap(({ text, summary = '' }) =>
      pathsIn(`${summary} ${text}`)
        .map((path) => insideOf(now.root, path))
        .filter((path) => path !== undefined)
        .filter((path) => probeFile(now, path).isVerified)
        .map((path) => ({ path, command: text })),
    )
}

function pathsIn(text: string): readonly string[] {
  return [...new Set(text.match(/(?:[\w@.-]+\/)*[\w@-][\w@.-]*\.[A-Za-z]\w{0,9}/g) ?? [])].slice(
    0,
    20,
  )
}
