// The commands that Claude Code runs. They hold no path of this machine, so that a settings file can be
// committed, and they are the same text everywhere: Claude Code runs a command that several settings files
// give for one event once.

/** Where `stint setup` leaves the way to this machine's Stint, under the state home. */
export const LAUNCHER = 'hook.sh'

/** What a settings file, or a plugin, registers for every event. */
export const HOOK_COMMAND = commandFor('hook')

/** What a settings file gives as the status line. */
export const STATUS_LINE_COMMAND = commandFor('statusline')

/**
 * Finds Stint and becomes it. First by the launcher, because a version manager's `stint` costs more than the
 * hook itself and an editor started from a desktop may have neither it nor Node on its PATH; then as a dependency
 * of the project; then on the PATH. Where there is none, it is a silent success: a teammate without Stint must not
 * notice, and exit code 2 would block a prompt. `exec`, so that no shell stands between the harness and the hook
 * when it sends a signal.
 */
function commandFor(argument: string): string {
  return [
    `set -- ${argument}`,
    `_s="\${STINT_STATE_HOME:-\${XDG_STATE_HOME:-$HOME/.local/state}/stint}/${LAUNCHER}"`,
    // Both tests: sourcing what is no file or cannot be read ends some shells with exit code 2.
    '[ -f "$_s" ] && [ -r "$_s" ] && . "$_s"',
    '_s="${CLAUDE_PROJECT_DIR:-.}/node_modules/.bin/stint"',
    // That one is a script for `env node`, which without a node would complain.
    '[ -x "$_s" ] && command -v node >/dev/null 2>&1 && exec "$_s" "$@"',
    'command -v stint >/dev/null 2>&1 && exec stint "$@"',
    'exit 0',
  ].join('; ')
}

/** Whether a command is one that some version of `stint setup` registered. */
export function isStintCommand(command: unknown): boolean {
  return typeof command === 'string' && command.includes('STINT_STATE_HOME') && command.includes(`/${LAUNCHER}`)
}
