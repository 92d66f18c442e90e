import type { HarnessHooks, StatusInput } from '../contract/hooks.ts'
import { claudeProtocol, absolutePath } from './hooks/protocol.ts'
import { readToolFacts } from './hooks/tool-facts.ts'
import {
  inspectTranscript,
  readLastUsage,
  normalizedTime,
  messageUsage,
} from './transcript/inspect-transcript.ts'
import { readTranscriptTotals } from './transcript/usage-totals.ts'
import { isConversationId } from '../../history/paths.ts'
import { defined } from '../../text/defined.ts'
import { type Json, asCount, asName, asObject, parseJson } from '../../text/json-fields.ts'
import { usageTotal } from '../contract/usage.ts'
import { configFolder } from './setup/paths.ts'
import { listFolder, statOrUndefined } from '../../journal/read-files.ts'
import { join } from 'node:path'

export const claudeHooks: HarnessHooks = {
  ...claudeProtocol,
  toolFacts: readToolFacts,
  readStatus: readStatusInput,
  transcript: {
    path: transcriptPath,
    find: findTranscript,
    inspect: inspectTranscript,
    lastUsage: readLastUsage,
    totals: readTranscriptTotals,
  },
}

export function readStatusInput(json: string): StatusInput {
  const fields = asObject(parseJson(json)) ?? {}
  const conversation = fields.session_id
  const cwd = absolutePath(fields.cwd) ?? absolutePath(asObject(fields.workspace)?.current_dir)
  return {
    ...defined({ cwd }),
    ...(isConversationId(conversation) ? { conversation } : {}),
    figures: parseFigures(fields),
  }
}

function parseFigures(fields: Json) {
  const window = asObject(fields.context_window)
  const limits = asObject(fields.rate_limits)
  return defined({
    usedPercent: positive(window?.used_percentage),
    size: positive(window?.context_window_size),
    used: contextTokens(window),
    model: asName(asObject(fields.model)?.id),
    version: asName(fields.version),
    cost: asCount(asObject(fields.cost)?.total_cost_usd),
    fiveHour: parseLimit(limits?.five_hour),
    sevenDay: parseLimit(limits?.seven_day),
  })
}

// Not from the totals beside it, which old versions sum over all calls.
function contextTokens(window: Json | undefined) {
  const usage = messageUsage({ usage: window?.current_usage })
  return usage === undefined ? undefined : positive(usageTotal(usage))
}

function parseLimit(value: unknown) {
  const fields = asObject(value)
  const percent = asCount(fields?.used_percentage) ?? asCount(fields?.utilization)
  return percent === undefined
    ? undefined
    : { percent, ...defined({ resetsAt: parseReset(fields?.resets_at) }) }
}

function parseReset(value: unknown) {
  const seconds = positive(value)
  return seconds === undefined
    ? normalizedTime(value)
    : normalizedTime(new Date(Math.min(seconds, 8e12) * 1000).toISOString())
}

function positive(value: unknown) {
  const count = asCount(value)
  return count === 0 ? undefined : count
}

function transcriptPath(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string {
  return join(
    join(configFolder(env), 'projects'),
    cwd.replaceAll(/[^A-Za-z0-9]/g, '-'),
    `${conversation}.jsonl`,
  )
}

function findTranscript(
  conversation: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const expected = transcriptPath(conversation, cwd, env)
  if (statOrUndefined(expected) !== undefined) return expected
  // Long folder names are shortened, differently in each version.
  const projects = join(configFolder(env), 'projects')
  return listFolder(projects)
    .map((project) => join(projects, project, `${conversation}.jsonl`))
    .find((path) => statOrUndefined(path) !== undefined)
}
