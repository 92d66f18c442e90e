import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import type { Repository } from '../../git/repository.ts'
import { StintError } from '../../journal/errors.ts'
import { stateHome } from '../../journal/state-home.ts'
import type { ProjectPaths } from './project-paths.ts'

export function requireRepository(paths: ProjectPaths): Repository {
  if (paths.repository !== undefined) return paths.repository
  throw new StintError(
    'NO_REPOSITORY',
    'a run needs a git repository: its work is proved by commits',
    'git init && git add -A && git commit -m start',
  )
}

/** Outside the project, so that no tool scans them. */
export function worktreesFolder(paths: ProjectPaths): string {
  const { commonDir } = requireRepository(paths)
  const project = `${basename(paths.root)}-${createHash('sha256').update(commonDir).digest('hex').slice(0, 8)}`
  return join(stateHome(), 'worktrees', project)
}
