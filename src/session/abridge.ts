import type { FileLine, SessionState, Shelf } from './state.ts'

/**
 * The state with its long lists cut to their recent end: what a snapshot keeps. Whatever is still
 * open stays (steps to do, unresolved blockers, next steps, what somebody pinned), so that an
 * abridged state answers every question a resuming agent has, at a size that does not grow.
 */
export function abridge(state: SessionState): SessionState {
  return {
    ...state,
    steps: keepRecent(state.steps, 6, (step) => step.status !== 'done'),
    progress: keepRecent(state.progress, 6),
    decisions: keepRecent(state.decisions, 12),
    discoveries: keepRecent(state.discoveries, 12),
    blockers: keepRecent(state.blockers, 5, (blocker) => blocker.resolvedAt === undefined),
    next: keepRecent(state.next, 50),
    key: keepRecent(state.key, 12, (line) => line.from === undefined),
    keyFiles: keepRecentFiles(state.keyFiles),
    changedFiles: keepRecentFiles(state.changedFiles),
    commands: keepRecent(state.commands, 20),
    notes: keepRecent(state.notes, 5),
    remarks: keepRecent(state.remarks, 0),
    sections: keepRecent(state.sections, 0),
    checkpoints: keepRecent(state.checkpoints, 3),
  }
}

function keepRecent<T>(
  shelf: Shelf<T>,
  limit: number,
  isOpen: (item: T) => boolean = () => false,
): Shelf<T> {
  const firstKept = shelf.items.length - limit
  const items = shelf.items.filter((item, index) => index >= firstKept || isOpen(item))
  return { earlier: shelf.earlier + shelf.items.length - items.length, items }
}

const FILES = 12
const PATHS = 2000

// A path noted again keeps its place in the list, so the paths of the files left behind stay known.
function keepRecentFiles(shelf: Shelf<FileLine>): Shelf<FileLine> {
  const kept = keepRecent(shelf, FILES)
  if (kept.earlier === 0) return kept
  const leftOut = [
    ...(shelf.leftOut ?? []),
    ...shelf.items.slice(0, -FILES).map((file) => file.text),
  ]
  return leftOut.length === kept.earlier && leftOut.length <= PATHS ? { ...kept, leftOut } : kept
}
