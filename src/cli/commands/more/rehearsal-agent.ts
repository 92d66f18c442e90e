// Loaded when an agent is rehearsed, because help does without.
export { loadScript, serveRehearsalOnStdio } from '../../../core.ts'
