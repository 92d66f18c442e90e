import { GitFailed } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import { type ProjectContext, projectContext } from '../../context/survey/project-context.ts'
import { withoutSecrets } from '../store/clean-draft.ts'
import type { Workspace } from '../store/workspace.ts'

export function contextOfProject(
  workspace: Workspace,
  options: { refresh?: boolean } = {},
): ProjectContext {
  const { repository } = workspace.place
  if (repository === undefined) {
    throw new StintError(
      'NO_REPOSITORY',
      'there is no git repository here to read',
      'git init, then git add what belongs to it',
    )
  }
  const { config } = workspace
  return projectContext(repository, {
    ...options,
    withoutSecrets: (text) => withoutSecrets(text, config),
  })
}

export function projectText(workspace: Workspace): string | undefined {
  if (workspace.place.repository === undefined) return undefined
  try {
    return contextOfProject(workspace).text
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    workspace.say(`what the repository is could not be read: ${error.message}`)
    return undefined
  }
}
