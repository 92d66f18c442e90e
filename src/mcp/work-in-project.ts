import { type Project, type WorkspaceOptions, openProject } from '../library.ts'

/** Opens a project for one piece of work. What comes of it is without secrets: agents write what they like, and what is told is kept in transcripts. */
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
