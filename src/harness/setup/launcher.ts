import { join } from 'node:path'
import { LAUNCHER } from './hook-command.ts'
import { type FileChange, hasOtherManifests, readText } from './plan.ts'

export interface HookProgram {
  readonly node: string
  readonly hook: string
}

export function launcherPath(stateHome: string): string {
  return join(stateHome, LAUNCHER)
}

/** Not quoted: the shell reads it into variables. */
export function launcherText({ node, hook }: HookProgram): string {
  return `${node}\t${hook}\n`
}

export function programIn(text: string): HookProgram | undefined {
  const [, node, hook] = /^([^\t\n]+)\t([^\t\n]+)\n$/.exec(text) ?? []
  return node === undefined || hook === undefined ? undefined : { node, hook }
}

interface PlannedLauncher {
  readonly changes: readonly FileChange[]
  readonly notes: readonly string[]
}

export function planLauncher(stateHome: string, program: HookProgram | undefined): PlannedLauncher {
  if (program === undefined) {
    return {
      changes: [],
      notes: [
        'this Stint runs from its sources: hooks will look for `stint` in the project and on the PATH',
      ],
    }
  }
  if (programIn(launcherText(program)) === undefined) {
    return {
      changes: [],
      notes: [
        'the path of this Stint has a line break or a tab: hooks will look for `stint` in the project and on the PATH',
      ],
    }
  }
  const path = launcherPath(stateHome)
  const before = readText(path)
  const after = launcherText(program)
  const isPassing = /[/\\]_npx[/\\]/.test(program.hook)
  return {
    changes: before === after ? [] : [{ path, before, after }],
    notes: isPassing
      ? ['this Stint lies in a cache of npx, which may be emptied: npm install --global stint']
      : [],
  }
}

export function planLastRemoval(
  stateHome: string,
  manifest: string,
  changes: readonly FileChange[],
): readonly FileChange[] {
  const isAnything = changes.length > 0 || readText(manifest) !== undefined
  if (!isAnything || hasOtherManifests(stateHome, manifest)) return []
  const path = launcherPath(stateHome)
  const before = readText(path)
  return before === undefined ? [] : [{ path, before, after: undefined }]
}
