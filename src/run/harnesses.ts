import { apiHarness } from '../harness/api/drive.ts'
import type { ApiSettings } from '../harness/api/drive/settings.ts'
import { roomFor } from '../harness/api/drive/window.ts'
import { acpHarness } from '../harness/acp/drive.ts'
import { claudeHarness } from '../harness/claude/drive.ts'
import { codexHarness } from '../harness/codex/drive.ts'
import type { Harness } from '../harness/contract/drive.ts'
import { rehearsalHarness } from '../harness/rehearsal/drive.ts'
import { conversationStore } from '../history/store.ts'
import { StintError } from '../journal/errors.ts'
import { redaction } from '../project/store/clean-draft.ts'
import type { ApiConfig } from '../project/config/api-config.ts'
import type { Config } from '../project/config/config.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { commandWords } from '../text/command-words.ts'

const API = 'api:'

export const HARNESSES = ['claude', 'codex', 'api', 'rehearsal'] as const

/** What the bare models of a project are known from, and where what they say is stored. */
export type HarnessPlace = Pick<Workspace, 'config' | 'place'>

/** The harnesses that need nothing but a name in a project. */
export function harnessNames({ api }: HarnessPlace['config']): readonly string[] {
  return [...HARNESSES, ...Object.keys(api.providers).map((name) => `api:${name}`)]
}

/**
 * The harness that a name means: one of ours, `acp:COMMAND ARGUMENTS` for any agent that speaks ACP, or `api:NAME` for a bare
 * model of the configuration.
 */
export function harnessNamed(
  name: string,
  project: HarnessPlace,
  options: { script?: string; state?: string } = {},
): Harness {
  if (name.startsWith('acp:')) return agentNamed(name.slice('acp:'.length))
  if (options.script !== undefined && name !== 'rehearsal') {
    throw new StintError(
      'NO_SCRIPT',
      `${name} follows no script`,
      'leave --script away, or add --harness rehearsal',
    )
  }
  if (name === 'claude') return claudeHarness
  if (name === 'codex') return codexHarness
  if (name === 'api' || name.startsWith(API)) return modelNamed(name, project)
  if (name === 'rehearsal') return rehearsalHarness(options)
  throw new StintError(
    'NO_HARNESS',
    `there is no harness "${name}"`,
    `there are ${HARNESSES.join(', ')}, api:NAME for a model of api.providers, and acp:COMMAND for any agent that speaks ACP`,
  )
}

function agentNamed(line: string): Harness {
  const words = commandWords(line)
  if (words === undefined)
    throw new StintError(
      'NO_HARNESS',
      `a quotation does not end in acp:${line}`,
      'close it, or leave it away',
    )
  const [command, ...args] = words
  if (command === undefined)
    throw new StintError('NO_HARNESS', 'acp: names no command', 'acp:gemini --acp, for example')
  return acpHarness({ name: 'acp', command, args })
}

/** Where a bare model has no room left for an answer, as far as that is known before it is asked; undefined for other harnesses. */
export function pointOfModel(
  name: string,
  model: string | undefined,
  { api }: Config,
): number | undefined {
  const settings = settingsOf(name, api)
  const asked = model ?? settings?.model
  return settings === undefined || asked === undefined ? undefined : roomFor(settings, asked).point
}

function settingsOf(name: string, { usual, providers }: ApiConfig): ApiSettings | undefined {
  if (name === 'api') return usual
  const own = name.slice(API.length)
  return name.startsWith(API) && Object.hasOwn(providers, own) ? providers[own] : undefined
}

function modelNamed(name: string, { config, place }: HarnessPlace): Harness {
  const settings = settingsOf(name, config.api)
  if (settings === undefined) {
    const own = name.slice(API.length)
    const named = Object.keys(config.api.providers).map((known) => `api:${known}`)
    throw new StintError(
      'NO_MODEL',
      `.sessions/config.yaml does not say which model ${name} is`,
      `set provider and model under api${name === 'api' ? '' : `.providers.${own}`}${named.length === 0 ? '' : `, or use ${named.join(', ')}`}`,
    )
  }
  return apiHarness({ name, settings, store: conversationStore(place.sessions, redaction(config)) })
}
