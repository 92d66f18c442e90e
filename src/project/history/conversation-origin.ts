import { trackedFiles } from '../../git/tracked-files.ts'
import { conversationPath } from '../../history/paths.ts'
import type { ProjectPaths } from '../store/project-paths.ts'

/** Stint keeps stored conversations out of git, so one that git tracks is not what the user said. */
export function conversationsFromElsewhere({
  root,
  sessions,
  repository,
}: ProjectPaths): (conversation: string) => boolean {
  if (repository === undefined) return () => false
  const isTracked = trackedFiles(root, '.sessions')
  return (conversation) => isTracked(conversationPath(sessions, conversation))
}
