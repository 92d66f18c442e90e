import { type WorkspaceOptions } from '../library.ts'
import { type Project, openProject } from '../core.ts'

/** Runs one operation on a project. The result is redacted: agents may have written secrets, and results end up in transcripts. */
export async function workInProject<T>(
  folder: string,
  options: WorkspaceOptions,
  work: (project: Project) => Promise<T>,
): Promise<T> {
  const project = openProject(folder, options)
  try {
    return await project.withoutSecrets(await work(project))
  } finally {
    project.dispose()
  }
}
