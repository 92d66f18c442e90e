import { pathToFileURL } from 'node:url'
import type { Project } from '../../../../project/open-project.ts'

export type openProjectOf = (cwd: string) => Project

/** The library under trial, which need not be the one that this was built with. */
export async function loadLibrary(path: string): Promise<openProjectOf> {
  const { openProject } = (await import(pathToFileURL(path).href)) as { openProject: openProjectOf }
  return openProject
}
