// It holds no path of this machine, so that settings can be committed, and is the same everywhere:
// Claude Code runs identical commands once.

export const LAUNCHER = 'launcher'

/** `stint setup --check` sends it to see whether the hook works. */
export const PROBE_EVENT = 'StintProbe'
export const PROBE_ANSWER = 'stint answers'

// Pure, so that the bundler drops them from the hook.

export const HOOK_COMMAND = /* @__PURE__ */ commandFor('hook')

export const AFTER_COMMAND = /* @__PURE__ */ commandFor('hook after')

export const STATUS_LINE_COMMAND = /* @__PURE__ */ commandFor('statusline')

/**
 * The launcher comes first: it is faster than a version manager's `stint` and works without a PATH.
 * Always silent and successful: a teammate without Stint must not notice, and exit code 2 would
 * block a prompt. Short, because Claude Code shows it after a compaction.
 */
function commandFor(argument: string) {
  const launcher = `"\${STINT_STATE_HOME:-\${XDG_STATE_HOME:-$HOME/.local/state}/stint}/${LAUNCHER}"`
  const launch = `IFS='\t' read -r n h <${launcher} && [ -x "$n" ] && [ -r "$h" ] && { "$n" "$h" ${argument}; :; }`
  const fallbacks = ['"${CLAUDE_PROJECT_DIR:-.}/node_modules/.bin/stint"', 'stint'].map(
    (program) => `${program} ${argument}`,
  )
  return `export STINT_HARNESS_PID=$PPID; { ${[launch, ...fallbacks, 'true'].join(' || ')}; } 2>/dev/null`
}

export function isStintCommand(command: unknown): boolean {
  return (
    typeof command === 'string' &&
    command.includes('STINT_STATE_HOME') &&
    command.includes(`/${LAUNCHER}`)
  )
}
