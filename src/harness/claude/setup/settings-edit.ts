import { addItem, addMember, editText, removeAt } from '../../setup/json-text.ts'
import {
  type HookGroup,
  NOTIFICATION_EVENT,
  type Settings,
  areHooksCurrent,
  byEvent,
  enabledPlugin,
  eventsOf,
  groupAt,
  hookGroups,
  hooksOf,
  isObject,
  parseSettings,
  refuseOddEnvironment,
  statusLineOf,
  stintHooks,
} from './settings.ts'
import { STATUS_LINE_COMMAND } from '../../setup/hook-command.ts'
import { MCP_SERVER } from '../../setup/launcher.ts'
import type { Scope, Surroundings } from '../../contract/setup.ts'
import { StintError } from '../../../journal/errors.ts'
import { type WrittenFile, readText } from '../../setup/plan.ts'
import type { TextEdit } from '../../setup/planned-file.ts'
import { SCOPES, moreGeneral, setupPlace } from './places.ts'

export interface Wanted {
  readonly groups: ReadonlyMap<string, HookGroup>
  readonly hasStatusLine: boolean
  /** `inherited`: the betas that apply where the file names none. */
  readonly betas?: { readonly inherited: string }
  /** `false` removes an approval that a setup added. */
  readonly approval?: boolean
}

export const STATUS_LINE = { type: 'command', command: STATUS_LINE_COMMAND }

export function addToSettings(text: string, wanted: Wanted): readonly string[] {
  const { groups, hasStatusLine, betas, approval } = wanted
  const texts = text.trim() === '' ? [text, '{}\n'] : [text]
  const edit = (change: (text: string) => string) => texts.push(change(texts.at(-1)!))
  const present = read(texts.at(-1)!)
  const events = new Set(eventsOf(present).map(([event]) => event))
  if (present.hooks === undefined) edit((before) => addMember(before, [], 'hooks', byEvent(groups)))
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
  if (approval === true) edit((before) => addApproval(before))
  return texts
}

/**
 * Hooks and status line are recognised by their content; betas and approvals only if setup recorded
 * them.
 */
export function takeOutOfSettings(
  text: string,
  kept: readonly string[] = [],
  added: readonly string[] = [],
): string {
  if (text.trim() === '') return text
  let rest = takeOutApproval(takeOutBetas(text, added, kept), added, kept)
  for (;;) {
    const settings = read(rest)
    const position = stintHooks(settings)[0]
    if (position === undefined) break
    const { event, group, hook } = position
    const isAlone = hooksOf(groupAt(settings, position)).length === 1
    rest = removeAt(rest, ['hooks', event, group, ...(isAlone ? [] : ['hooks', hook])])
    rest = withoutEmpty(rest, event, kept)
  }
  const isOurs = ['ours', 'outdated'].includes(statusLineOf(read(rest), STATUS_LINE))
  return isOurs ? removeAt(rest, ['statusLine']) : rest
}

function withoutEmpty(text: string, event: string, kept: readonly string[]): string {
  const isEmptied = eventsOf(read(text)).some(
    ([name, groups]) => name === event && groups.length === 0,
  )
  const rest = isEmptied && !kept.includes(event) ? removeAt(text, ['hooks', event]) : text
  const hasEvents = Object.keys(read(rest).hooks as object).length > 0
  return hasEvents || kept.includes('hooks') ? rest : removeAt(rest, ['hooks'])
}

export function containersOf(text: string): readonly string[] {
  const settings = text.trim() === '' ? {} : read(text)
  const hooks =
    settings.hooks === undefined ? [] : ['hooks', ...eventsOf(settings).map(([event]) => event)]
  return [...hooks, ...betaContainers(settings), ...approvalContainers(settings)]
}

function read(text: string): Settings {
  return JSON.parse(text) as Settings
}

// Claude Code reads betas from its environment, separated by commas; a header given elsewhere is
// lost.

/** Only Claude Sonnet 3.7 needs it; later models do it by default. */
export const TOKEN_EFFICIENT_TOOLS = 'token-efficient-tools-2025-02-19'
export const BETAS = 'ANTHROPIC_BETAS'

const MEMBER = `env.${BETAS}`

export function betasText({ env }: Settings): string | undefined {
  const value = isObject(env) ? env[BETAS] : undefined
  return typeof value === 'string' ? value : undefined
}

export function hasTokenEfficientTools(settings: Settings): boolean {
  return betasIn(betasText(settings) ?? '').includes(TOKEN_EFFICIENT_TOOLS)
}

export function betasIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')
}

export function withBeta(list: string): string {
  const isEnded = list.trim() === '' || list.trimEnd().endsWith(',')
  return `${list}${isEnded ? '' : ','}${TOKEN_EFFICIENT_TOOLS}`
}

/** A list in this file hides inherited betas, so they are copied. */
export function addBeta(text: string, inherited: string): string {
  const settings = JSON.parse(text) as Settings
  if (!isObject(settings.env)) return addMember(text, [], 'env', { [BETAS]: withBeta(inherited) })
  if (betasText(settings) === undefined) return addMember(text, ['env'], BETAS, withBeta(inherited))
  return editText(text, ['env', BETAS], withBeta)
}

export function addedBetas(settings: Settings, inherited: string): readonly string[] {
  const known = betasText(settings)
  if (known === undefined) return [...betasIn(inherited), TOKEN_EFFICIENT_TOOLS]
  return hasTokenEfficientTools(settings) ? [] : [TOKEN_EFFICIENT_TOOLS]
}

export function takeOutBetas(
  text: string,
  betas: readonly string[],
  kept: readonly string[],
): string {
  const list = betasText(JSON.parse(text) as Settings)
  if (list === undefined || !betasIn(list).some((beta) => betas.includes(beta))) return text
  const rest = (raw: string) => {
    const parts = raw.split(',')
    return parts.filter((part) => !betas.includes(part.trim())).join(',')
  }
  if (rest(list).trim() !== '' || kept.includes(MEMBER)) return editText(text, ['env', BETAS], rest)
  const without = removeAt(text, ['env', BETAS])
  const isEmpty = Object.keys((JSON.parse(without) as { env: object }).env).length === 0
  return isEmpty && !kept.includes('env') ? removeAt(without, ['env']) : without
}

export function betaContainers(settings: Settings): readonly string[] {
  if (!isObject(settings.env)) return []
  return betasText(settings) === undefined ? ['env'] : ['env', MEMBER]
}

// Claude Code asks once about each server of `.mcp.json`, unless settings answer.

const ENABLED = 'enabledMcpjsonServers'
const DISABLED = 'disabledMcpjsonServers'
const ALL = 'enableAllProjectMcpServers'

export const APPROVAL = `${ENABLED}.${MCP_SERVER}`

/** A refusal wins over every approval. */
export function approvalIn(settings: Settings): 'approved' | 'refused' | undefined {
  if (isListed(settings[DISABLED])) return 'refused'
  return isListed(settings[ENABLED]) || settings[ALL] === true ? 'approved' : undefined
}

export function isApprovedByName(settings: Settings): boolean {
  return isListed(settings[ENABLED])
}

export function hasDecided(settings: Settings): boolean {
  const list = settings[ENABLED]
  const isOdd = list !== undefined && !Array.isArray(list)
  return isOdd || isListed(settings[DISABLED]) || settings[ALL] !== undefined
}

export function addApproval(text: string): string {
  const settings = JSON.parse(text) as Settings
  if (isApprovedByName(settings)) return text
  if (settings[ENABLED] === undefined) return addMember(text, [], ENABLED, [MCP_SERVER])
  return addItem(text, [ENABLED], MCP_SERVER)
}

export function addedApproval(settings: Settings): readonly string[] {
  return isApprovedByName(settings) ? [] : [APPROVAL]
}

export function takeOutApproval(
  text: string,
  added: readonly string[],
  kept: readonly string[],
): string {
  const list = (JSON.parse(text) as Settings)[ENABLED]
  const index = Array.isArray(list) ? list.indexOf(MCP_SERVER) : -1
  if (index === -1 || !added.includes(APPROVAL)) return text
  const isAlone = (list as readonly unknown[]).length === 1
  return removeAt(text, isAlone && !kept.includes(ENABLED) ? [ENABLED] : [ENABLED, index])
}

export function approvalContainers(settings: Settings): readonly string[] {
  return settings[ENABLED] === undefined ? [] : [ENABLED]
}

function isListed(list: unknown): boolean {
  return Array.isArray(list) && list.includes(MCP_SERVER)
}

/** Some editors leave it at the start of a file. */
const BYTE_ORDER_MARK = '\uFEFF'

export function readSettings(path: string): Settings {
  return parseSettings(path, bare(readText(path) ?? ''))
}

/** Claude Code ignores settings that it cannot read. */
export function readOtherSettings(path: string): Settings {
  try {
    return readSettings(path)
  } catch (error) {
    if (error instanceof StintError) return {}
    throw error
  }
}

export function settingsEdit(path: string, wanted: Wanted): TextEdit {
  const parse = (text: string) => parseSettings(path, text)
  return behindMark({
    isCurrent(text) {
      const settings = parse(text)
      const status = statusLineOf(settings, STATUS_LINE)
      const hasBeta = wanted.betas === undefined || hasTokenEfficientTools(settings)
      const hasStatusLine = wanted.hasStatusLine ? status === 'ours' : !isOurs(status)
      const hasApproval =
        wanted.approval === undefined || wanted.approval === isApprovedByName(settings)
      return hasBeta && hasStatusLine && hasApproval && areHooksCurrent(settings, wanted.groups)
    },
    add: (text) => addToSettings(text, wanted),
    takeOut(text, known) {
      // Throws for a text that cannot be edited.
      parse(text)
      return takeOutOfSettings(text, known?.kept, known?.added)
    },
    containers: containersOf,
    added: (text) => [
      ...(wanted.betas === undefined ? [] : addedBetas(parse(text), wanted.betas.inherited)),
      ...(wanted.approval === true ? addedApproval(parse(text)) : []),
    ],
    isEmpty: (text) => text.trim() === '' || Object.keys(parse(text)).length === 0,
  })
}

/** A notification or beta once asked for stays, and a foreign status line is not replaced. */
export function wantedOf(
  scope: Scope,
  around: Surroundings,
  options: {
    notify: boolean
    statusLine: boolean
    tokenEfficientTools: boolean
    hasServer: boolean
  },
  known: WrittenFile | undefined,
): Wanted & {
  readonly statusLineElsewhere: string | undefined
  readonly plugin: string | undefined
  readonly notes: readonly string[]
} {
  const own = setupPlace(scope, around).settings
  const settings = readSettings(own)
  const notifies = stintHooks(settings).some(({ event }) => event === NOTIFICATION_EVENT)
  const others = moreGeneral(scope).map((each) => setupPlace(each, around).settings)
  const hasTheirs = statusLineOf(settings, STATUS_LINE) === 'theirs'
  const wantsBeta = options.tokenEfficientTools || hasTokenEfficientTools(settings)
  if (wantsBeta) refuseOddEnvironment(own, settings, BETAS)
  const owner = hasTheirs
    ? own
    : others.find((path) => readOtherSettings(path).statusLine !== undefined)
  return {
    groups: hookGroups({ notify: options.notify || notifies }),
    hasStatusLine: options.statusLine && owner === undefined,
    ...approvalOf(scope, around, options.hasServer, known),
    ...(wantsBeta ? { betas: { inherited: scope === 'local' ? betasBeside(others) : '' } } : {}),
    notes: [
      ...(options.tokenEfficientTools ? betaNotes(scope, around) : []),
      ...(options.hasServer ? refusalNotes(around) : []),
    ],
    statusLineElsewhere: options.statusLine ? owner : undefined,
    plugin: SCOPES.map((each) =>
      enabledPlugin(readOtherSettings(setupPlace(each, around).settings)),
    ).find(Boolean),
  }
}

/** Only for one person; others are asked by Claude Code. */
function approvalOf(
  scope: Scope,
  around: Surroundings,
  hasServer: boolean,
  known: WrittenFile | undefined,
): Pick<Wanted, 'approval'> {
  const read = SCOPES.map((each) => readOtherSettings(setupPlace(each, around).settings))
  if (scope === 'local' && hasServer && !read.some(hasDecided)) return { approval: true }
  return known?.added?.includes(APPROVAL) === true ? { approval: false } : {}
}

function refusalNotes(around: Surroundings): readonly string[] {
  const refusing = SCOPES.map((each) => setupPlace(each, around).settings).filter(
    (path) => approvalIn(readOtherSettings(path)) === 'refused',
  )
  return refusing.map((path) => `the MCP server stays off: ${path} refuses it`)
}

function betasBeside(paths: readonly string[]): string {
  return (
    paths.map((path) => betasText(readOtherSettings(path))).find((list) => list !== undefined) ?? ''
  )
}

/** The nearest settings hold alone, and before the shell's. */
function betaNotes(scope: Scope, around: Surroundings): readonly string[] {
  const own = setupPlace(scope, around).settings
  // A personal list is not copied into shared settings.
  const hidden = moreGeneral(scope)
    .map((each) => setupPlace(each, around).settings)
    .filter((path) => scope === 'shared' && betasText(readOtherSettings(path)) !== undefined)
  const hiding = SCOPES.slice(0, SCOPES.indexOf(scope))
    .map((each) => setupPlace(each, around).settings)
    .filter((path) => {
      const settings = readOtherSettings(path)
      return betasText(settings) !== undefined && !hasTokenEfficientTools(settings)
    })
  return [
    ...hidden.map((path) => `${BETAS} of ${path} does not hold in this project: ${own} has one`),
    ...hiding.map((path) => `no effect in this project: ${path} has ${BETAS} without it`),
    ...(around.env[BETAS] === undefined
      ? []
      : [`${BETAS} of your shell does not hold any more: ${own} has one`]),
  ]
}

function isOurs(status: string): boolean {
  return status === 'ours' || status === 'outdated'
}

/** The parser counts from behind the mark. */
export function behindMark(edit: TextEdit): TextEdit {
  const markOf = (text: string) => text.slice(0, text.length - bare(text).length)
  return {
    isCurrent: (text) => edit.isCurrent(bare(text)),
    add: (text) => edit.add(bare(text)).map((each) => markOf(text) + each),
    takeOut: (text, known) => markOf(text) + edit.takeOut(bare(text), known),
    containers: (text) => edit.containers!(bare(text)),
    added: (text) => edit.added!(bare(text)),
    isEmpty: (text) => edit.isEmpty(bare(text)),
  }
}

function bare(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}
