/** What the section `delegates` of the configuration may say. */
export interface DelegateSettings {
  /** How many may run at once. */
  readonly most: number
  /** How often work that did not go into the target is given back to be mended, before it is parked. */
  readonly sendBack: number
  /** Makes a fresh worktree ready; `run.setup` when absent. */
  readonly setup?: string
  /** `NAME=value` for the environment of each; `{port}`, `{slot}`, `{name}` and `{tree}` are filled in. */
  readonly env: readonly string[]
  readonly portBase: number
  /** How many ports each has. */
  readonly ports: number
  /** A command put before the agent's own, such as one that starts a container; `{tree}` and the others are filled in. */
  readonly wrap?: string
}

export const DEFAULT_DELEGATES: DelegateSettings = {
  most: 4,
  sendBack: 2,
  env: [],
  portBase: 21_000,
  ports: 10,
}

export const DELEGATE_KEYS = {
  most: 'whole',
  send_back: 'whole',
  setup: 'text',
  env: 'texts',
  port_base: 'whole',
  ports: 'whole',
  wrap: 'text',
} as const

/** The settings in a section; what is wrong in it is refused with the reason. */
export function delegateSettingsFrom(
  section: Record<string, unknown>,
  refuse: (reason: string) => Error,
): DelegateSettings {
  const read: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(section)) {
    const kind = Object.hasOwn(DELEGATE_KEYS, key)
      ? DELEGATE_KEYS[key as keyof typeof DELEGATE_KEYS]
      : undefined
    if (kind === undefined)
      throw refuse(
        `there is no setting "delegates.${key}"; there are ${Object.keys(DELEGATE_KEYS).join(', ')}`,
      )
    const problem = problemWith(key, kind, value)
    if (problem !== undefined) throw refuse(`"delegates.${key}" ${problem}`)
    read[key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] = value
  }
  return { ...DEFAULT_DELEGATES, ...read }
}

function problemWith(
  key: string,
  kind: (typeof DELEGATE_KEYS)[keyof typeof DELEGATE_KEYS],
  value: unknown,
): string | undefined {
  if (kind === 'text')
    return typeof value === 'string' && value.trim() !== '' ? undefined : 'must be a text'
  if (kind === 'whole') {
    const least = key === 'send_back' ? 0 : 1
    return Number.isInteger(value) && (value as number) >= least
      ? undefined
      : `must be a whole number from ${least}`
  }
  const isList =
    Array.isArray(value) &&
    value.every((item) => typeof item === 'string' && /^[A-Za-z_]\w*=/.test(item))
  return isList ? undefined : 'must be a list of NAME=value'
}
