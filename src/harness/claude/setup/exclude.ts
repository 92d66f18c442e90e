// What a setup for one person adds to a project stays out of `git status`.
import { join, relative, sep } from 'node:path'
import type { TextEdit } from './edited-file.ts'
import { addBlock, blockIn, takeOutBlock } from './marked-block.ts'

/** Each agent program has lines of its own, so that one can be taken out without the other. */
function marksOf(program: string) {
  return {
    begin: `# stint setup${program}: begin`,
    end: `# stint setup${program}: end`,
    isApart: false,
  }
}

export function excludePath(gitCommonDir: string): string {
  return join(gitCommonDir, 'info', 'exclude')
}

/** The pattern that means one file of a worktree and no other. */
export function excludePattern(root: string, path: string): string {
  return `/${relative(root, path).split(sep).join('/')}`
}

export function excludedIn(text: string, program = ''): readonly string[] {
  return blockIn(text, marksOf(program)) ?? []
}

export function excludeEdit(patterns: readonly string[], program = ''): TextEdit {
  const marks = marksOf(program)
  return {
    isCurrent: (text) => excludedIn(text, program).join('\n') === patterns.join('\n'),
    add: (text) => (patterns.length === 0 ? [text] : addBlock(text, marks, patterns)),
    takeOut: (text) => takeOutBlock(text, marks),
    isEmpty: (text) => text.trim() === '',
  }
}
