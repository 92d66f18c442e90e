import { asksToContinue } from '../context/intent/continue-intent.ts'
import type { Config } from '../project/config/config.ts'
import { cleanText } from '../text/clean.ts'
import { defined } from '../text/defined.ts'
import { redactAndClip } from '../project/store/redact-and-clip.ts'
import type { HookContext } from './hook-context.ts'

const MAX_LENGTH = 16_000

/** The whole prompt: the fold finds the statements in it. Undefined if there is nothing to record. */
export function requestFromPrompt(prompt: string, config: Config): string | undefined {
  const text = cleanText(prompt.slice(0, MAX_LENGTH + 8192)).trim()
  if (text === '' || (text.startsWith('/') && HARNESS_COMMAND.test(text))) return undefined
  if (/^\S{1,12}[.!]?$/.test(text)) return undefined
  // "Continue, but never call X" rules something; "continue where you left off" does not.
  if (text.length < MAX_PLAIN_CONTINUE && !/[,;:.!]\s*\S/.test(text) && asksToContinue(text))
    return undefined
  return redactAndClip(text, MAX_LENGTH, config)
}

const MAX_PLAIN_CONTINUE = 60

/** Commands of the harness and of Stint. A custom command of the user is a request. */
const HARNESS_COMMAND =
  /^\/(?:(?:stint:)?(?:session-[a-z]+|task-next)|add-dir|agents|bug|clear|compact|config|context|continue|cost|doctor|exit|export|fast|fork|help|hooks|ide|init|keybindings|login|logout|mcp|memory|model|output-style|permissions|plugin|quit|release-notes|rename|resume|review|rewind|status|statusline|tasks|terminal-setup|theme|todos|upgrade|usage|vim)(?=\s|$)/

export function recordRequest(
  context: HookContext,
  prompt: string,
  {
    conversation = context.event.conversation,
    once,
  }: { conversation?: string; once?: string } = {},
): void {
  const text = requestFromPrompt(prompt, context.config)
  if (text === undefined) return
  context.record('request.made', { text, conversation }, once)
  if (context.sessionId !== undefined) return
  const { ended, unbound = { requests: 0, tools: 0 } } = context.conversationState
  context.update({
    unbound: { ...unbound, requests: unbound.requests + 1 },
    ...defined({ ended: ended === undefined ? undefined : { ...ended, askedSince: true } }),
  })
}
