import { join } from 'node:path'
import { LAUNCHER } from '../hook-command.ts'

/** The programs of this machine that a hook is made of. */
export interface HookProgram {
  readonly node: string
  readonly hook: string
}

export function launcherPath(stateHome: string): string {
  return join(stateHome, LAUNCHER)
}

/** A script that runs the hook, and fails only when one of the two files is gone: then there are other ways to find one. */
export function launcherText({ node, hook }: HookProgram): string {
  return [
    '# Written by `stint setup`. The command that Claude Code runs for a hook runs this file.',
    `_s_node=${quoted(node)}`,
    `_s_hook=${quoted(hook)}`,
    '[ -x "$_s_node" ] && [ -r "$_s_hook" ] || exit 1',
    '"$_s_node" "$_s_hook" "$@"',
    'exit 0',
    '',
  ].join('\n')
}

/** The programs that a launcher names. */
export function programIn(text: string): HookProgram | undefined {
  const [node, hook] = ['_s_node', '_s_hook'].map((name) => new RegExp(`^${name}='((?:[^']|'\\\\'')*)'$`, 'm').exec(text)?.[1])
  return node === undefined || hook === undefined ? undefined : { node: unquoted(node), hook: unquoted(hook) }
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`
}

function unquoted(text: string): string {
  return text.replaceAll(String.raw`'\''`, "'")
}
