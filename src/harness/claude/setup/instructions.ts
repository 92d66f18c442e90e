// A few lines in the file that tells agents about a project, for those who want them there.
import { join } from 'node:path'
import { statOrUndefined } from '../../../journal/look.ts'
import type { TextEdit } from './edited-file.ts'
import { addBlock, blockIn, takeOutBlock } from './marked-block.ts'

const MARKS = {
  begin: '<!-- stint setup: begin -->',
  end: '<!-- stint setup: end -->',
  isApart: true,
}

const LINES = [
  '## Sessions',
  '',
  'Work on this project is recorded in Stint sessions, which survive compaction. What a session holds is shown when a',
  'conversation starts; `stint resume` shows all of it. Record what the next reader would need, at the moment it is known:',
  '',
  '- `stint log --decision "…" --rationale "…"` for a choice and why it was made',
  '- `stint log --discovery "…"` for something found out, `--gotcha "…"` for a trap',
  '- `stint log --blocker "…"` for what stands in the way, `--next "…"` for what is to be done next',
  '- `stint log --done "…"` for a step that is done',
]

export const instructionsEdit: TextEdit = {
  isCurrent: (text) => blockIn(text, MARKS)?.join('\n') === LINES.join('\n'),
  add: (text) => addBlock(text, MARKS, LINES),
  takeOut: (text) => takeOutBlock(text, MARKS),
  isEmpty: (text) => text.trim() === '',
}

/** The files that may hold them, the preferred one first. */
export function instructionFiles(folder: string): readonly string[] {
  return [join(folder, 'CLAUDE.md'), join(folder, 'AGENTS.md')]
}

/** The first of them that there is, else the first to be made. */
export function instructionsPath(folder: string): string {
  const paths = instructionFiles(folder)
  return paths.find((path) => statOrUndefined(path)?.isFile() === true) ?? paths[0]!
}
