// Loaded when a project is opened, because help does not need it.
export { AmbiguousSession } from '../../library.ts'
export { openProject } from '../../core.ts'
