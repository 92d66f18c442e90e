// Every harness that Stint knows, and which parts it has. To add one, see "Adding a harness" in AGENTS.md.
import { claudeHooks } from './claude/hooks.ts'
import { claudeLimits } from './claude/limits.ts'
import type { HarnessHooks, HookEvent } from './contract/hooks.ts'
import { type HarnessLimits, fixedPoint } from './contract/limits.ts'

/** One harness. A part that it does not have is absent. */
export interface HarnessDefinition {
  /** As it is stored in journals and typed on the command line. */
  readonly name: string
  /** As its makers write it. */
  readonly title: string
  /** Loaded with the registry, because a hook cannot wait. */
  readonly hooks?: HarnessHooks
  readonly limits?: HarnessLimits
}

const HARNESSES: HarnessDefinition[] = [
  { name: 'claude', title: 'Claude Code', hooks: claudeHooks, limits: claudeLimits },
  {
    name: 'codex',
    title: 'Codex',
    limits: fixedPoint('codex', '90% of the window', (window) => window * 0.9),
  },
  { name: 'api', title: 'bare model' },
  { name: 'rehearsal', title: 'scripted agent' },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    limits: fixedPoint('gemini', '50% of the window', (window) => window * 0.5),
  },
  {
    name: 'opencode',
    title: 'opencode',
    limits: fixedPoint('opencode', 'window less 20k', (window) => window - 20_000),
  },
  { name: 'acp', title: 'ACP agent' },
  {
    name: 'goose',
    title: 'goose',
    limits: fixedPoint('goose', '80% of the window', (window) => window * 0.8),
  },
  {
    name: 'pi',
    title: 'pi',
    limits: fixedPoint('pi', 'window less 16k', (window) => window - 16_384),
  },
]

/** The harness that is meant where none is named. */
export const DEFAULT_HARNESS = 'claude'

/** The harness of this name, where `api:local` is one of `api`. */
export function findHarness(name: string): HarnessDefinition | undefined {
  const [base] = name.split(':', 1)
  return HARNESSES.find((harness) => harness.name === base)
}

/** The hooks of a harness; those of the default where none is named. */
export function hooksOf(name: string = DEFAULT_HARNESS): HarnessHooks | undefined {
  return findHarness(name)?.hooks
}

/** An event as the harness of this name tells it, or as whichever harness knows it. */
export function readHookEvent(json: string, name?: string): HookEvent | undefined {
  if (name !== undefined) return hooksOf(name)?.readEvent(json)
  for (const { hooks } of HARNESSES) {
    const event = hooks?.readEvent(json)
    if (event !== undefined) return event
  }
  return undefined
}
