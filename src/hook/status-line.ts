import { currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { readTracking } from '../conversation/tracking.ts'
import { writeWindow } from '../conversation/window.ts'
import { trackingFolderOf } from '../project/conversation-binding.ts'
import { DEFAULTS } from '../project/config.ts'
import { findPlace } from '../project/place.ts'
import { readHead } from '../git/head.ts'
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

interface Told {
  readonly cwd: string
  readonly conversation?: string
  readonly window?: { readonly usedPercent?: number; readonly size?: number; readonly used?: number }
}

function parse(input: string): Told {
  const value = JSON.parse(input) as Record<string, unknown>
  const workspace = fieldsOf(value.workspace)
  const window = fieldsOf(value.context_window)
  const cwd = textIn(value.cwd) ?? textIn(workspace.current_dir) ?? process.cwd()
  const conversation = textIn(value.session_id)
  const isSafe = conversation !== undefined && /^[A-Za-z0-9][\w-]{0,127}$/.test(conversation)
  const usedPercent = numberIn(window.used_percentage)
  const size = numberIn(window.context_window_size)
  const used = numberIn(window.total_input_tokens)
  return {
    cwd,
    ...(isSafe ? { conversation } : {}),
    ...(usedPercent === undefined
      ? {}
      : { window: { usedPercent, ...(size === undefined ? {} : { size }), ...(used === undefined ? {} : { used }) } }),
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
