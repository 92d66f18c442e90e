// Loaded when an agent is rehearsed, because help does without.
export { loadScript, serveOnStandardStreams } from '../../../core.ts'
