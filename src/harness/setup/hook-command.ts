// It holds no path of this machine, so that settings can be committed, and is the same everywhere:
// Claude Code runs identical commands once.

export const LAUNCHER = 'launcher'

/** `stint setup --check` sends it to see whether the hook works. */
export const PROBE_EVENT = 'StintProbe'
export const PROBE_ANSWER = 'stint answers'

// Pure, so that the bundler drops them from the hook.

export const HOOK_COMMAND = /* @__PURE__ */ commandFor('hook', 10)

export const AFTER_COMMAND = /* @__PURE__ */ commandFor('hook after', 30)

export const STATUS_LINE_COMMAND = /* @__PURE__ */ commandFor('statusline', 10)

/**
 * Runs only what the launcher names: a program from the PATH or the project may come with a clone.
 * A relative state home would be read from the project. `ulimit` ends a hook that keeps computing.
 * Always silent and successful: a teammate without Stint must not notice, and exit code 2 would
 * block a prompt. Short, because Claude Code shows it after a compaction.
 */
function commandFor(argument: string, cpuSeconds: number) {
  const home = 's=${STINT_STATE_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/stint}'
  const launch = `IFS='\t' read -r n h <"$s/${LAUNCHER}" && [ -x "$n" ] && [ -r "$h" ] && "$n" "$h" ${argument}`
  return `export STINT_HARNESS_PID=$PPID; ${home}; { ulimit -t ${cpuSeconds}; case $s in /*) ${launch};; esac; :; } 2>/dev/null`
}

export function isStintCommand(command: unknown): boolean {
  return (
    typeof command === 'string' &&
    command.includes('STINT_STATE_HOME') &&
    command.includes(`/${LAUNCHER}`)
  )
}
