import type { Scope, Surroundings } from '../../contract/setup.ts'
import { StintError } from '../../../journal/errors.ts'
import {
  APPROVAL,
  BETAS,
  STATUS_LINE,
  type Wanted,
  addToSettings,
  addedApproval,
  addedBetas,
  approvalIn,
  betasText,
  containersOf,
  hasDecided,
  hasTokenEfficientTools,
  isApprovedByName,
  takeOutOfSettings,
} from './settings-edit.ts'
import { type WrittenFile, readText } from '../../setup/plan.ts'
import type { TextEdit } from '../../setup/planned-file.ts'
import {
  NOTIFICATION_EVENT,
  type Settings,
  areHooksCurrent,
  enabledPlugin,
  hookGroups,
  parseSettings,
  refuseOddEnvironment,
  statusLineOf,
  stintHooks,
} from './settings.ts'
import { SCOPES, moreGeneral, setupPlace } from './places.ts'
import { PLUGIN } from './plugin.ts'

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
      enabledPlugin(readOtherSettings(setupPlace(each, around).settings), PLUGIN),
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
