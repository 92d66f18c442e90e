// Loaded only when the agent runs, because help does not need it.
export { loadScript, serveRehearsalOnStdio } from '../../../core.ts'
