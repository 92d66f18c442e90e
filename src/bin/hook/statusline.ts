import { statusLine } from '../../hook/status-line.ts'

export const serveEvent = (input: string) => Promise.resolve(statusLine(input, new Date().toISOString()))
