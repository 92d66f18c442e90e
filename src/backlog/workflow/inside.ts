/** Whether a path, as it stands in a template or a journal, stays within the project, wherever that is. */
export function isInside(path: string): boolean {
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.includes('\\')) return false
  return !path.split('/').includes('..')
}
