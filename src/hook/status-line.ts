import { currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { readTracking } from '../conversation/tracking.ts'
import { writeWindow } from '../conversation/window.ts'
import { trackingFolderOf } from '../project/conversation-binding.ts'
import { DEFAULTS } from '../project/config.ts'
import { findPlace } from '../project/place.ts'
import { readHead } from '../git/head.ts'
import { isConversationId } from '../harness/conversation-id.ts'
import { countOf, given, nameOf, objectOf, parseJson } from '../harness/json-fields.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { openById, sessionsHere } from './find-session.ts'
import { isOurs } from './scene.ts'

/** git is asked only where its files do not say it, and the line is drawn after every answer. */
const GIT_MS = 400

/** The line under the prompt: session, progress, blockers, and how full the context is. Leaves the last for hooks. */
export function statusLine(input: string, now: string): string {
  const told = parse(input)
  const place = findPlace(told.cwd)
  if (!isOurs(place)) return ''
  const notes = trackingFolderOf(place)
  const bound = told.conversation === undefined ? undefined : readTracking(notes, told.conversation)?.session
  if (told.conversation !== undefined && told.window !== undefined && bound !== undefined) {
    writeWindow(notes, told.conversation, { at: now, ...told.window })
  }
  const head = place.repository === undefined ? {} : readHead(place.repository, GIT_MS)
  const found = (bound === undefined ? undefined : openById(place, DEFAULTS, bound)) ?? sessionsHere(place, DEFAULTS, head).active
  const percent = told.window?.usedPercent
  const filled = percent === undefined ? [] : [`context ${Math.round(percent)}%`]
  if (found === undefined) return filled.join('')
  const { state, session } = found
  session.close()
  const { done, total } = stepCounts(state)
  const current = currentStep(state)?.text
  const blockers = openBlockers(state).length
  return [
    `📋 ${shorten(oneLine(state.name), 60)}${state.status === 'paused' ? ' (paused)' : ''}`,
    ...(total === 0 ? [] : [`${done}/${total}`]),
    ...(current === undefined ? [] : [shorten(oneLine(current), 40)]),
    ...(blockers === 0 ? [] : [`⛔ ${blockers}`]),
    ...filled,
  ].join(' · ')
}

const LONGEST_PATH = 4096

interface Told {
  readonly cwd: string
  readonly conversation?: string
  readonly window?: { readonly usedPercent?: number; readonly size?: number; readonly used?: number }
}

function parse(input: string): Told {
  const value = objectOf(parseJson(input)) ?? {}
  const window = objectOf(value['context_window'])
  const cwd = nameOf(value['cwd'], LONGEST_PATH) ?? nameOf(objectOf(value['workspace'])?.['current_dir'], LONGEST_PATH)
  const conversation = value['session_id']
  const usedPercent = countOf(window?.['used_percentage'])
  const size = countOf(window?.['context_window_size'])
  const used = countOf(window?.['total_input_tokens'])
  return {
    cwd: cwd ?? process.cwd(),
    ...(isConversationId(conversation) ? { conversation } : {}),
    ...(usedPercent === undefined ? {} : { window: { usedPercent, ...given({ size, used }) } }),
  }
}
