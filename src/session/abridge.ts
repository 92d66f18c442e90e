import type { SessionState, Shelf } from './state.ts'

/**
 * The state with its long lists cut to their recent end: what a snapshot keeps. Whatever is still
 * open stays (steps to do, unresolved blockers, next steps, what somebody pinned), so that an
 * abridged state answers every question a resuming agent has, at a size that does not grow.
 */
export function abridge(state: SessionState): SessionState {
  return {
    ...state,
    steps: keepRecent(state.steps, 20, (step) => step.status !== 'done'),
    progress: keepRecent(state.progress, 30),
    decisions: keepRecent(state.decisions, 60),
    discoveries: keepRecent(state.discoveries, 60),
    blockers: keepRecent(state.blockers, 10, (blocker) => blocker.resolvedAt === undefined),
    next: keepRecent(state.next, 100),
    key: keepRecent(state.key, 30, (line) => line.from === undefined),
    keyFiles: keepRecent(state.keyFiles, 100),
    changedFiles: keepRecent(state.changedFiles, 1000),
    commands: keepRecent(state.commands, 50),
    notes: keepRecent(state.notes, 20),
    remarks: keepRecent(state.remarks, 0),
    sections: keepRecent(state.sections, 0),
    checkpoints: keepRecent(state.checkpoints, 20),
  }
}

function keepRecent<T>(shelf: Shelf<T>, limit: number, isOpen: (item: T) => boolean = () => false): Shelf<T> {
  const firstKept = shelf.items.length - limit
  const items = shelf.items.filter((item, index) => index >= firstKept || isOpen(item))
  return { earlier: shelf.earlier + shelf.items.length - items.length, items }
}
