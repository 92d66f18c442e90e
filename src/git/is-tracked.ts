import { askGit } from './run-git.ts'

/** Whether a file of a worktree is one that its repository keeps. */
export function isTracked(root: string, path: string): boolean {
  return askGit(root, ['ls-files', '--error-unmatch', '--', path], {
    env: { GIT_LITERAL_PATHSPECS: '1' },
  })
}
