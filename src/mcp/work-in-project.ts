import { type Project, openProject } from '../library.ts'
import { redaction } from '../project/store/clean-draft.ts'
import { readConfig } from '../project/config/read-config.ts'
import type { WorkspaceOptions } from '../project/store/workspace.ts'
import { redactDeep } from '../text/redact.ts'

/** Opens a project for one piece of work. What comes of it is without secrets: agents write what they like, and what is told is kept in transcripts. */
export async function workInProject<T>(
  folder: string,
  options: WorkspaceOptions,
  work: (project: Project) => Promise<T>,
): Promise<T> {
  const project = openProject(folder, options)
  try {
    const secrets = redaction(readConfig(project.sessionsFolder))
    return redactDeep(await work(project), secrets).value
  } finally {
    project.dispose()
  }
}
