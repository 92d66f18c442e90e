// What a setup for one person adds to a project stays out of `git status`.
import { join, relative, sep } from 'node:path'
import type { TextEdit } from './edited-file.ts'
import { addBlock, blockIn, takeOutBlock } from './marked-block.ts'

const MARKS = { begin: '# stint setup: begin', end: '# stint setup: end', isApart: false }

export function excludePath(gitCommonDir: string): string {
  return join(gitCommonDir, 'info', 'exclude')
}

/** The pattern that means one file of a worktree and no other. */
export function excludePattern(root: string, path: string): string {
  return `/${relative(root, path).split(sep).join('/')}`
}

export function excludedIn(text: string): readonly string[] {
  return blockIn(text, MARKS) ?? []
}

export function excludeEdit(patterns: readonly string[]): TextEdit {
  return {
    isCurrent: (text) => excludedIn(text).join('\n') === patterns.join('\n'),
    add: (text) => (patterns.length === 0 ? [text] : addBlock(text, MARKS, patterns)),
    takeOut: (text) => takeOutBlock(text, MARKS),
    isEmpty: (text) => text.trim() === '',
  }
}
