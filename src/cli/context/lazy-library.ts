// Loaded when a project is opened, because help does not need it.
export { AmbiguousSession, openProject } from '../../library.ts'
