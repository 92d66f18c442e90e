// Our hooks, status line and environment put into the text of a settings file, and taken out of it.
import { STATUS_LINE_COMMAND } from '../../setup/hook-command.ts'
import { addBeta, betaContainers, hasTokenEfficientTools, takeOutBetas } from './betas.ts'
import type { HookGroup } from './hook-registrations.ts'
import type { JsonText } from './json-text.ts'
import { addApproval, approvalContainers, takeOutApproval } from './mcp-approval.ts'
import { type Settings, eventsOf, groupAt, hooksOf, statusLineOf, stintHooks } from './settings.ts'

/** What we want of a settings file. */
export interface Wanted {
  readonly groups: ReadonlyMap<string, HookGroup>
  readonly hasStatusLine: boolean
  /** Whether a beta is asked for, and which ones hold where the file names none. */
  readonly betas?: { readonly inherited: string }
  /** Whether the MCP server is approved there; `false` takes an approval out that a setup put there. */
  readonly approval?: boolean
}

export const STATUS_LINE = { type: 'command', command: STATUS_LINE_COMMAND }

/** The texts from one without anything of ours to the one with it, one edit apart. */
export function addToSettings(json: JsonText, text: string, wanted: Wanted): readonly string[] {
  const { groups, hasStatusLine, betas, approval } = wanted
  const texts = text.trim() === '' ? [text, '{}\n'] : [text]
  const edit = (change: (text: string) => string) => texts.push(change(texts.at(-1)!))
  const present = read(texts.at(-1)!)
  const events = new Set(eventsOf(present).map(([event]) => event))
  if (present.hooks === undefined)
    edit((before) => json.addMember(before, [], 'hooks', byEvent(groups)))
  else {
    for (const [event, group] of groups) {
      edit((before) =>
        events.has(event)
          ? json.addItem(before, ['hooks', event], group)
          : json.addMember(before, ['hooks'], event, [group]),
      )
    }
  }
  if (hasStatusLine) edit((before) => json.addMember(before, [], 'statusLine', STATUS_LINE))
  if (betas !== undefined && !hasTokenEfficientTools(present))
    edit((before) => addBeta(json, before, betas.inherited))
  if (approval === true) edit((before) => addApproval(json, before))
  return texts
}

/** The `hooks` of a settings file, or of a plugin, that has no others. */
export function byEvent(
  groups: ReadonlyMap<string, HookGroup>,
): Readonly<Record<string, readonly HookGroup[]>> {
  return Object.fromEntries([...groups].map(([event, group]) => [event, [group]]))
}

/**
 * The text without anything of ours. A container that is empty afterwards goes too, unless it is among those to keep. Hooks
 * and status line are known by their looks; a beta or an approval may be anybody's, so only what is said to be added by us goes.
 */
export function takeOutOfSettings(
  json: JsonText,
  text: string,
  kept: readonly string[] = [],
  added: readonly string[] = [],
): string {
  if (text.trim() === '') return text
  let rest = takeOutApproval(json, takeOutBetas(json, text, added, kept), added, kept)
  for (;;) {
    const settings = read(rest)
    const position = stintHooks(settings)[0]
    if (position === undefined) break
    const { event, group, hook } = position
    const isAlone = hooksOf(groupAt(settings, position)).length === 1
    rest = json.remove(rest, ['hooks', event, group, ...(isAlone ? [] : ['hooks', hook])])
    rest = withoutEmpty(json, rest, event, kept)
  }
  const isOurs = ['ours', 'outdated'].includes(statusLineOf(read(rest), STATUS_LINE))
  return isOurs ? json.remove(rest, ['statusLine']) : rest
}

function withoutEmpty(
  json: JsonText,
  text: string,
  event: string,
  kept: readonly string[],
): string {
  const isEmptied = eventsOf(read(text)).some(
    ([name, groups]) => name === event && groups.length === 0,
  )
  const rest = isEmptied && !kept.includes(event) ? json.remove(text, ['hooks', event]) : text
  const hasEvents = Object.keys(read(rest).hooks as object).length > 0
  return hasEvents || kept.includes('hooks') ? rest : json.remove(rest, ['hooks'])
}

/** The containers that ours stand in, for whoever takes it out again. */
export function containersOf(text: string): readonly string[] {
  const settings = text.trim() === '' ? {} : read(text)
  const hooks =
    settings.hooks === undefined ? [] : ['hooks', ...eventsOf(settings).map(([event]) => event)]
  return [...hooks, ...betaContainers(settings), ...approvalContainers(settings)]
}

function read(text: string): Settings {
  return JSON.parse(text) as Settings
}
