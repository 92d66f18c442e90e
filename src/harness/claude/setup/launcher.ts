import { join } from 'node:path'
import { LAUNCHER } from '../../setup/hook-command.ts'

/** The programs of this machine that a hook is made of. */
export interface HookProgram {
  readonly node: string
  readonly hook: string
}

export function launcherPath(stateHome: string): string {
  return join(stateHome, LAUNCHER)
}

/** The line that the hook command reads. A shell takes whatever stands in a variable for a name, so that nothing is quoted. */
export function launcherText({ node, hook }: HookProgram): string {
  return `${node}\t${hook}\n`
}

/** The programs that a launcher names. */
export function programIn(text: string): HookProgram | undefined {
  const [, node, hook] = /^([^\t\n]+)\t([^\t\n]+)\n$/.exec(text) ?? []
  return node === undefined || hook === undefined ? undefined : { node, hook }
}
