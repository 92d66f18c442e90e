/** What people call the kinds of entry they look for. */
export const KIND_NAMES: Readonly<Record<string, readonly string[]>> = {
  progress: ['progress.made'],
  decision: ['decision.made'],
  discovery: ['discovery.made'],
  gotcha: ['gotcha.found'],
  blocker: ['blocker.raised', 'blocker.resolved'],
  next: ['next.added'],
  step: ['step.added'],
  key: ['key.added'],
  note: ['note.added', 'remark.placed', 'section.written'],
  file: ['file.noted', 'file.changed'],
  tldr: ['tldr.written'],
  goal: ['goal.set', 'session.opened'],
  checkpoint: ['checkpoint.made'],
  task: ['task.added', 'task.changed', 'task.moved', 'task.reported'],
}
