import type { SetupScope, ProjectEnvironment } from '../../contract/setup.ts'
import { addItem, addMember, editString, removeAt } from '../../setup/edit-json.ts'
import { MCP_SERVER } from '../../setup/launcher.ts'
import type { WrittenFile } from '../../setup/plan.ts'
import type { TextEdit } from '../../setup/plan-files.ts'
import { SCOPES, setupPaths } from './paths.ts'
import {
  type HookGroup,
  NOTIFICATION_EVENT,
  STATUS_LINE,
  type ClaudeSettings,
  areHooksCurrent,
  groupsByEvent,
  enabledPlugin,
  hookEvents,
  groupAt,
  hookGroups,
  hooksInGroup,
  invalidSettings,
  isPlainObject,
  parseSettings,
  readClaudeSettingsOrEmpty,
  readClaudeSettings,
  statusLineOwner,
  stintHooks,
} from './settings.ts'

interface WantedSettings {
  readonly groups: ReadonlyMap<string, HookGroup>
  readonly hasStatusLine: boolean
  /** `inherited`: the betas that apply where the file names none. */
  readonly betas?: { readonly inherited: string }
  /** `false` removes an approval that a setup added. */
  readonly approval?: boolean
}

/** Returns the text after each edit, starting with the original. */
export function addToSettings(text: string, wanted: WantedSettings): readonly string[] {
  const { groups, hasStatusLine, betas, approval } = wanted
  const texts = text.trim() === '' ? [text, '{}\n'] : [text]
  const edit = (change: (text: string) => string) => texts.push(change(texts.at(-1)!))
  const present = parseObject(texts.at(-1)!)
  const events = new Set(hookEvents(present).map(([event]) => event))
  if (present.hooks === undefined)
    edit((before) => addMember(before, [], 'hooks', groupsByEvent(groups)))
  else {
    for (const [event, group] of groups) {
      edit((before) =>
        events.has(event)
          ? addItem(before, ['hooks', event], group)
          : addMember(before, ['hooks'], event, [group]),
      )
    }
  }
  if (hasStatusLine) edit((before) => addMember(before, [], 'statusLine', STATUS_LINE))
  if (betas !== undefined && !hasTokenEfficientTools(present))
    edit((before) => addBeta(before, betas.inherited))
  if (approval === true && !isListed(present[ENABLED])) {
    edit((before) =>
      present[ENABLED] === undefined
        ? addMember(before, [], ENABLED, [MCP_SERVER])
        : addItem(before, [ENABLED], MCP_SERVER),
    )
  }
  return texts
}

/**
 * Hooks and status line are recognised by their content; betas and approvals only if setup recorded
 * them. Containers that are empty afterwards are removed too, unless they existed before setup.
 */
export function removeFromSettings(
  text: string,
  kept: readonly string[] = [],
  added: readonly string[] = [],
): string {
  if (text.trim() === '') return text
  let rest = removeApproval(removeBetas(text, added, kept), added, kept)
  for (;;) {
    const settings = parseObject(rest)
    const position = stintHooks(settings)[0]
    if (position === undefined) break
    const { event, group, hook } = position
    const isAlone = hooksInGroup(groupAt(settings, position)).length === 1
    rest = removeAt(rest, ['hooks', event, group, ...(isAlone ? [] : ['hooks', hook])])
    rest = removeEmpty(rest, event, kept)
  }
  return hasOurStatusLine(parseObject(rest)) ? removeAt(rest, ['statusLine']) : rest
}

function removeEmpty(text: string, event: string, kept: readonly string[]) {
  const isEmptied = hookEvents(parseObject(text)).some(
    ([name, groups]) => name === event && groups.length === 0,
  )
  const rest = isEmptied && !kept.includes(event) ? removeAt(text, ['hooks', event]) : text
  const hasEvents = Object.keys(parseObject(rest).hooks as object).length > 0
  return hasEvents || kept.includes('hooks') ? rest : removeAt(rest, ['hooks'])
}

/** The containers of our values that exist in a text. */
export function existingContainers(text: string): readonly string[] {
  const settings = parseObject(text)
  return [
    ...(settings.hooks === undefined
      ? []
      : ['hooks', ...hookEvents(settings).map(([event]) => event)]),
    ...(isPlainObject(settings.env) ? ['env'] : []),
    ...(betasText(settings) === undefined ? [] : [BETAS_MEMBER]),
    ...(settings[ENABLED] === undefined ? [] : [ENABLED]),
  ]
}

function parseObject(text: string) {
  return text.trim() === '' ? {} : (JSON.parse(text) as ClaudeSettings)
}

function hasOurStatusLine(settings: ClaudeSettings) {
  return ['ours', 'outdated'].includes(statusLineOwner(settings))
}

// Claude Code reads betas from its environment, separated by commas; a header given elsewhere is
// lost.

/** Only Claude Sonnet 3.7 needs it; later models do it by default. */
export const TOKEN_EFFICIENT_TOOLS = 'token-efficient-tools-2025-02-19'
const BETAS = 'ANTHROPIC_BETAS'
const BETAS_MEMBER = `env.${BETAS}`

function betasText({ env }: ClaudeSettings) {
  const value = isPlainObject(env) ? env[BETAS] : undefined
  return typeof value === 'string' ? value : undefined
}

function hasTokenEfficientTools(settings: ClaudeSettings) {
  return betasIn(betasText(settings) ?? '').includes(TOKEN_EFFICIENT_TOOLS)
}

function betasIn(list: string) {
  return list
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')
}

function withBeta(list: string) {
  const isEnded = list.trim() === '' || list.trimEnd().endsWith(',')
  return `${list}${isEnded ? '' : ','}${TOKEN_EFFICIENT_TOOLS}`
}

/** A list in this file hides inherited betas, so they are copied. */
function addBeta(text: string, inherited: string) {
  const settings = parseObject(text)
  if (!isPlainObject(settings.env))
    return addMember(text, [], 'env', { [BETAS]: withBeta(inherited) })
  if (betasText(settings) === undefined) return addMember(text, ['env'], BETAS, withBeta(inherited))
  return editString(text, ['env', BETAS], withBeta)
}

function addedBetas(settings: ClaudeSettings, inherited: string) {
  if (betasText(settings) === undefined) return [...betasIn(inherited), TOKEN_EFFICIENT_TOOLS]
  return hasTokenEfficientTools(settings) ? [] : [TOKEN_EFFICIENT_TOOLS]
}

function removeBetas(text: string, betas: readonly string[], kept: readonly string[]) {
  const list = betasText(parseObject(text))
  if (list === undefined || !betasIn(list).some((beta) => betas.includes(beta))) return text
  const rest = (raw: string) =>
    raw
      .split(',')
      .filter((part) => !betas.includes(part.trim()))
      .join(',')
  if (rest(list).trim() !== '' || kept.includes(BETAS_MEMBER))
    return editString(text, ['env', BETAS], rest)
  const without = removeAt(text, ['env', BETAS])
  const isEmpty = Object.keys(parseObject(without).env as object).length === 0
  return isEmpty && !kept.includes('env') ? removeAt(without, ['env']) : without
}

// Claude Code asks once about each server of `.mcp.json`, unless settings decide.

const ENABLED = 'enabledMcpjsonServers'
const DISABLED = 'disabledMcpjsonServers'
const ALL = 'enableAllProjectMcpServers'
const APPROVAL = `${ENABLED}.${MCP_SERVER}`

/** A refusal wins over every approval. */
export function mcpApproval(settings: ClaudeSettings): 'approved' | 'refused' | undefined {
  if (isListed(settings[DISABLED])) return 'refused'
  return isApprovedByName(settings) || settings[ALL] === true ? 'approved' : undefined
}

export function isApprovedByName(settings: ClaudeSettings): boolean {
  return isListed(settings[ENABLED])
}

/** Whether the user decided about this server, or about all of them. */
function hasUserDecided(settings: ClaudeSettings) {
  const list = settings[ENABLED]
  const isMalformed = list !== undefined && !Array.isArray(list)
  return isMalformed || isListed(settings[DISABLED]) || settings[ALL] !== undefined
}

function removeApproval(text: string, added: readonly string[], kept: readonly string[]) {
  const list = parseObject(text)[ENABLED]
  const index = Array.isArray(list) ? list.indexOf(MCP_SERVER) : -1
  if (index === -1 || !added.includes(APPROVAL)) return text
  const isAlone = (list as readonly unknown[]).length === 1
  return removeAt(text, isAlone && !kept.includes(ENABLED) ? [ENABLED] : [ENABLED, index])
}

function isListed(list: unknown) {
  return Array.isArray(list) && list.includes(MCP_SERVER)
}

export function settingsEdit(path: string, wanted: WantedSettings): TextEdit {
  const { groups, hasStatusLine, betas, approval } = wanted
  const parse = (text: string) => parseSettings(path, text)
  return {
    isCurrent(text) {
      const settings = parse(text)
      return (
        (betas === undefined || hasTokenEfficientTools(settings)) &&
        (hasStatusLine ? statusLineOwner(settings) === 'ours' : !hasOurStatusLine(settings)) &&
        (approval === undefined || approval === isApprovedByName(settings)) &&
        areHooksCurrent(settings, groups)
      )
    },
    add: (text) => addToSettings(text, wanted),
    remove(text, written) {
      // Throws for a text that cannot be edited.
      parse(text)
      return removeFromSettings(text, written?.kept, written?.added)
    },
    containers: existingContainers,
    added(text) {
      const settings = parse(text)
      return [
        ...(betas === undefined ? [] : addedBetas(settings, betas.inherited)),
        ...(approval === true && !isApprovedByName(settings) ? [APPROVAL] : []),
      ]
    },
    isEmpty: (text) => Object.keys(parse(text)).length === 0,
  }
}

interface WantedOptions {
  readonly notify: boolean
  readonly statusLine: boolean
  readonly tokenEfficientTools: boolean
  readonly hasServer: boolean
}

/** Keeps a notification or beta that was requested earlier, and never replaces another program's status line. */
export function resolveWantedSettings(
  scope: SetupScope,
  project: ProjectEnvironment,
  { notify, statusLine, tokenEfficientTools, hasServer }: WantedOptions,
  known: WrittenFile | undefined,
): WantedSettings & { readonly notes: readonly string[]; readonly plugin: string | undefined } {
  const own = setupPaths(scope, project).settings
  const settings = readClaudeSettings(own)
  const files = SCOPES.map((each) => {
    const path = setupPaths(each, project).settings
    return { path, settings: readClaudeSettingsOrEmpty(path) }
  })
  const at = SCOPES.indexOf(scope)
  const nearer = files.slice(0, at)
  const general = files.slice(at + 1)
  const notifies = stintHooks(settings).some(({ event }) => event === NOTIFICATION_EVENT)
  const owner =
    statusLineOwner(settings) === 'theirs'
      ? own
      : general.find((each) => each.settings.statusLine !== undefined)?.path
  const wantsBeta = tokenEfficientTools || hasTokenEfficientTools(settings)
  if (wantsBeta) assertEditableEnv(own, settings)
  const inherited = general
    .map((each) => betasText(each.settings))
    .find((list) => list !== undefined)
  // Only for a local setup; Claude Code asks the others.
  const isApproved =
    scope === 'local' && hasServer && !files.some((each) => hasUserDecided(each.settings))
  const wasApproved = known?.added?.includes(APPROVAL) === true
  // A personal list is not copied into shared settings.
  const hidden =
    scope === 'shared' ? general.filter((each) => betasText(each.settings) !== undefined) : []
  const hiding = nearer.filter(
    (each) => betasText(each.settings) !== undefined && !hasTokenEfficientTools(each.settings),
  )
  const betaNotes = [
    ...hidden.map(
      ({ path }) => `${BETAS} of ${path} does not hold in this project: ${own} has one`,
    ),
    ...hiding.map(({ path }) => `no effect in this project: ${path} has ${BETAS} without it`),
    ...(project.env[BETAS] === undefined
      ? []
      : [`${BETAS} of your shell does not hold any more: ${own} has one`]),
  ]
  const refusing = files.filter((each) => mcpApproval(each.settings) === 'refused')
  return {
    groups: hookGroups({ notify: notify || notifies }),
    hasStatusLine: statusLine && owner === undefined,
    ...(isApproved || wasApproved ? { approval: isApproved } : {}),
    ...(wantsBeta ? { betas: { inherited: (scope === 'local' && inherited) || '' } } : {}),
    notes: [
      ...(statusLine && owner !== undefined ? [`no status line: ${owner} has one`] : []),
      ...(tokenEfficientTools ? betaNotes : []),
      ...(hasServer
        ? refusing.map(({ path }) => `the MCP server stays off: ${path} refuses it`)
        : []),
    ],
    plugin: files.map((each) => enabledPlugin(each.settings)).find(Boolean),
  }
}

function assertEditableEnv(path: string, { env }: ClaudeSettings) {
  if (env === undefined) return
  if (!isPlainObject(env)) throw invalidSettings(path, '"env" is not an object')
  if (env[BETAS] !== undefined && typeof env[BETAS] !== 'string')
    throw invalidSettings(path, `"env.${BETAS}" is not a text`)
}
