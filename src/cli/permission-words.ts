import { line } from './text.ts'
import type { PermissionRequest } from '../harness/contract/drive.ts'

/** What an agent wants to do, as a question. */
export function permissionWords({ tool, title, command, path }: PermissionRequest): string {
  const what =
    command === undefined
      ? path === undefined
        ? ''
        : `: ${line(path)}`
      : `: ${line(command, 300)}`
  return `May the agent use ${line(tool, 60)}${what === '' && title !== '' ? `: ${line(title)}` : what}?`
}
