// Loaded when a project is opened, because help does without.
export { AmbiguousSession, openProject } from '../../library.ts'
