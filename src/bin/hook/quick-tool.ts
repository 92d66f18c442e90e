import { isNothingNew } from '../../hook/settled.ts'

export { writeOut } from '../../journal/files.ts'

export const serveEvent = (input: string) => (isNothingNew(input, process.env) ? '' : undefined)
