import type { HarnessHooks, StatusInput } from '../contract/hooks.ts'
import { claudeProtocol, pathOf } from './hooks/protocol.ts'
import { lookAtPiece, readUsageTail, timeOf, usageIn } from './transcript/transcript.ts'
import { sumUp } from './transcript/usage-totals.ts'
import { isConversationId } from '../../history/places.ts'
import { defined } from '../../text/defined.ts'
import { type Json, countOf, nameOf, objectOf, parseJson } from '../../text/json-fields.ts'
import { tokensOf } from '../contract/usage.ts'
import { configFolder } from './setup/places.ts'
import { namesIn, statOrUndefined } from '../../journal/look.ts'
import { join } from 'node:path'

export const claudeHooks: HarnessHooks = {
  ...claudeProtocol,
  readStatus: readStatusInput,
  transcript: {
    path: usualTranscript,
    find: transcriptOf,
    inspect: lookAtPiece,
    usageTail: readUsageTail,
    sumUp,
  },
}

export function readStatusInput(json: string): StatusInput {
  const fields = objectOf(parseJson(json)) ?? {}
  const conversation = fields.session_id
  const cwd = pathOf(fields.cwd) ?? pathOf(objectOf(fields.workspace)?.current_dir)
  return {
    ...defined({ cwd }),
    ...(isConversationId(conversation) ? { conversation } : {}),
    figures: figuresIn(fields),
  }
}

function figuresIn(fields: Json) {
  const window = objectOf(fields.context_window)
  const limits = objectOf(fields.rate_limits)
  return defined({
    usedPercent: positive(window?.used_percentage),
    size: positive(window?.context_window_size),
    used: usedIn(window),
    model: nameOf(objectOf(fields.model)?.id),
    version: nameOf(fields.version),
    cost: countOf(objectOf(fields.cost)?.total_cost_usd),
    fiveHour: toldLimit(limits?.five_hour),
    sevenDay: toldLimit(limits?.seven_day),
  })
}

// Not from the totals beside it, which old clients sum over all calls.
function usedIn(window: Json | undefined) {
  const usage = usageIn({ usage: window?.current_usage })
  return usage === undefined ? undefined : positive(tokensOf(usage))
}

function toldLimit(value: unknown) {
  const fields = objectOf(value)
  const percent = countOf(fields?.used_percentage) ?? countOf(fields?.utilization)
  return percent === undefined
    ? undefined
    : { percent, ...defined({ resetsAt: resetIn(fields?.resets_at) }) }
}

function resetIn(value: unknown) {
  const seconds = positive(value)
  return seconds === undefined
    ? timeOf(value)
    : timeOf(new Date(Math.min(seconds, 8e12) * 1000).toISOString())
}

function positive(value: unknown) {
  const count = countOf(value)
  return count === 0 ? undefined : count
}

export function usualTranscript(conversation: string, cwd: string, env: NodeJS.ProcessEnv): string {
  return join(
    join(configFolder(env), 'projects'),
    cwd.replaceAll(/[^A-Za-z0-9]/g, '-'),
    `${conversation}.jsonl`,
  )
}

export function transcriptOf(
  conversation: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const usual = usualTranscript(conversation, cwd, env)
  if (statOrUndefined(usual) !== undefined) return usual
  // Long folder names are shortened, differently in each version.
  const projects = join(configFolder(env), 'projects')
  return namesIn(projects)
    .map((project) => join(projects, project, `${conversation}.jsonl`))
    .find((path) => statOrUndefined(path) !== undefined)
}
