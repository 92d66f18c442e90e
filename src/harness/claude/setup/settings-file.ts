import { StintError } from '../../../journal/errors.ts'
import { readText } from './changes.ts'
import type { TextEdit } from './edited-file.ts'
import { NOTIFICATION_EVENT, hookGroups } from './hook-registrations.ts'
import type { JsonText } from './json-text.ts'
import { SCOPES, type Scope, type Surroundings, moreGeneral, setupPlace } from './places.ts'
import { PLUGIN } from './plugin.ts'
import { STATUS_LINE, type Wanted, addToSettings, containersOf, takeOutOfSettings } from './settings-edit.ts'
import { type Settings, areHooksCurrent, enabledPlugin, parseSettings, statusLineOf, stintHooks } from './settings.ts'

/** Before the first character of a text, where some editors leave it. */
const BYTE_ORDER_MARK = '\uFEFF'

/** What a settings file says; nothing when there is none. */
export function readSettings(json: JsonText, path: string): Settings {
  return parseSettings(path, bare(readText(path) ?? ''), json.faultyLine)
}

/** What a settings file says that is not to be edited: Claude Code ignores one that it cannot read. */
export function readOtherSettings(json: JsonText, path: string): Settings {
  try {
    return readSettings(json, path)
  } catch (error) {
    if (error instanceof StintError) return {}
    throw error
  }
}

/** Our hooks and status line, as an edit of a settings file's text. */
export function settingsEdit(json: JsonText, path: string, wanted: Wanted): TextEdit {
  const parse = (text: string) => parseSettings(path, text, json.faultyLine)
  return behindMark({
    isCurrent(text) {
      const settings = parse(text)
      const status = statusLineOf(settings, STATUS_LINE)
      return areHooksCurrent(settings, wanted.groups) && (wanted.hasStatusLine ? status === 'ours' : !isOurs(status))
    },
    add: (text) => addToSettings(json, text, wanted),
    takeOut(text, kept) {
      // For its refusal: only what was read as settings is edited.
      parse(text)
      return takeOutOfSettings(json, text, kept)
    },
    containers: containersOf,
    isEmpty: (text) => text.trim() === '' || Object.keys(parse(text)).length === 0,
  })
}

/**
 * What is wanted of a settings file, and what there is beside it. A notification that was once asked for stays, and
 * nobody's status line is replaced.
 */
export function wantedOf(
  json: JsonText,
  scope: Scope,
  around: Surroundings,
  options: { notify: boolean; statusLine: boolean },
): Wanted & { readonly statusLineElsewhere: string | undefined; readonly plugin: string | undefined } {
  const own = setupPlace(scope, around).settings
  const settings = readSettings(json, own)
  const notifies = stintHooks(settings).some(({ event }) => event === NOTIFICATION_EVENT)
  const others = moreGeneral(scope).map((each) => setupPlace(each, around).settings)
  const hasTheirs = statusLineOf(settings, STATUS_LINE) === 'theirs'
  const owner = hasTheirs ? own : others.find((path) => readOtherSettings(json, path).statusLine !== undefined)
  return {
    groups: hookGroups({ notify: options.notify || notifies }),
    hasStatusLine: options.statusLine && owner === undefined,
    statusLineElsewhere: options.statusLine ? owner : undefined,
    plugin: SCOPES.map((each) => enabledPlugin(readOtherSettings(json, setupPlace(each, around).settings), PLUGIN)).find(Boolean),
  }
}

function isOurs(status: string): boolean {
  return status === 'ours' || status === 'outdated'
}

/** The parser counts from behind the mark; whatever is written has it again. */
function behindMark(edit: TextEdit): TextEdit {
  const markOf = (text: string) => text.slice(0, text.length - bare(text).length)
  return {
    isCurrent: (text) => edit.isCurrent(bare(text)),
    add: (text) => edit.add(bare(text)).map((each) => markOf(text) + each),
    takeOut: (text, kept) => markOf(text) + edit.takeOut(bare(text), kept),
    containers: (text) => edit.containers!(bare(text)),
    isEmpty: (text) => edit.isEmpty(bare(text)),
  }
}

function bare(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}
