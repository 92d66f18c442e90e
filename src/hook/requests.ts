import { asksToContinue } from '../context/intent/continue-intent.ts'
import { isRuling } from '../context/intent/ruling.ts'
import type { Config } from '../project/config/config.ts'
import { cleanText } from '../text/clean.ts'
import { redactAndClip } from './redact-and-clip.ts'
import type { HookContext } from './hook-context.ts'

const MAX_LENGTH = 600
const MOST_PENDING = 20

/** Undefined if there is nothing to record. */
export function requestFromPrompt(
  prompt: string,
  config: Config,
): { text: string; isRuling: boolean } | undefined {
  const text = cleanText(prompt.slice(0, 2 * MAX_LENGTH + 8192)).trim()
  if (text === '' || (text.startsWith('/') && HARNESS_COMMAND.test(text))) return undefined
  if (asksToContinue(text) || /^\S{1,12}[.!]?$/.test(text)) return undefined
  return { text: redactAndClip(text, MAX_LENGTH, config), isRuling: isRuling(text) }
}

/** Commands of the harness and of Stint. A custom command of the user is a request. */
const HARNESS_COMMAND =
  /^\/(?:(?:stint:)?(?:session-[a-z]+|task-next)|add-dir|agents|bug|clear|compact|config|context|continue|cost|doctor|exit|export|fast|fork|help|hooks|ide|init|keybindings|login|logout|mcp|memory|model|output-style|permissions|plugin|quit|release-notes|rename|resume|review|rewind|status|statusline|tasks|terminal-setup|theme|todos|upgrade|usage|vim)(?=\s|$)/

export function recordRequest(
  context: HookContext,
  prompt: string,
  options: { conversation?: string; once?: string } = {},
): void {
  const request = requestFromPrompt(prompt, context.config)
  if (request === undefined) return
  if (context.sessionId !== undefined) {
    const { conversation = context.event.conversation, once } = options
    const rules = request.isRuling ? { isRuling: true } : {}
    context.record('request.made', { text: request.text, ...rules, conversation }, once)
    return
  }
  const { ended } = context.conversationState
  context.update({
    requests: [...context.conversationState.requests, { ...request, at: context.now }].slice(
      -MOST_PENDING,
    ),
    ...(ended === undefined ? {} : { ended: { ...ended, askedSince: true } }),
  })
}
