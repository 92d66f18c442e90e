// The commands that Claude Code runs. They hold no path of this machine, so that a settings file can be
// committed, and they are the same text everywhere: Claude Code runs a command that several settings files
// give for one event once.

/** Where `stint setup` leaves the way to this machine's Stint, under the state home: a line with its Node and its hook. */
export const LAUNCHER = 'launcher'

/** An event of nobody, by which `stint setup --check` finds out whether the command finds a hook that works. */
export const PROBE_EVENT = 'StintProbe'
export const PROBE_ANSWER = 'stint answers'

// Pure, so that the hook itself, which needs none of these, makes none of them.

/** What a settings file, or a plugin, registers for every event. */
export const HOOK_COMMAND = /* @__PURE__ */ commandFor('hook')

/** What is registered beside it for what nobody has to wait for: journalling what hooks left, rendering, copying what was said. */
export const AFTER_COMMAND = /* @__PURE__ */ commandFor('hook after')

/** What a settings file gives as the status line. */
export const STATUS_LINE_COMMAND = /* @__PURE__ */ commandFor('statusline')

/**
 * Finds Stint and runs it. First by the launcher, which is read and not run, since a shell for it would cost as much as
 * the rest of a hook; it comes first because a version manager's `stint` costs more than the
 * hook itself and an editor started from a desktop may have neither it nor Node on its PATH; then as a dependency
 * of the project; then on the PATH. Whatever becomes of it, a missing Stint or a Node that crashes, this is a silent
 * success: a teammate without Stint must not notice, and exit code 2 would block a prompt. Short, because Claude Code
 * shows it to the person after a compaction.
 */
function commandFor(argument: string): string {
  const launcher = `"\${STINT_STATE_HOME:-\${XDG_STATE_HOME:-$HOME/.local/state}/stint}/${LAUNCHER}"`
  const launch = `IFS='\t' read -r n h <${launcher} && [ -x "$n" ] && [ -r "$h" ] && { "$n" "$h" ${argument}; :; }`
  const elsewhere = ['"${CLAUDE_PROJECT_DIR:-.}/node_modules/.bin/stint"', 'stint'].map(
    (way) => `${way} ${argument}`,
  )
  return `export STINT_HARNESS_PID=$PPID; { ${[launch, ...elsewhere, 'true'].join(' || ')}; } 2>/dev/null`
}

/** Whether a command is one that some version of `stint setup` registered. */
export function isStintCommand(command: unknown): boolean {
  return (
    typeof command === 'string' &&
    command.includes('STINT_STATE_HOME') &&
    command.includes(`/${LAUNCHER}`)
  )
}
