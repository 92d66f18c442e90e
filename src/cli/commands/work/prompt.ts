import type { Permissions, PromptRequest } from '../../../library.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { Misuse } from '../../context/errors.ts'
import { session, text, toggle } from '../../context/flags.ts'
import { choice, given, harnessOf, refuseScript } from '../../context/run-flags.ts'
import { withRuns } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly session?: string
  readonly new?: boolean
  readonly conversation?: string
  readonly fresh?: boolean
  readonly harness?: string
  readonly model?: string
  readonly permissions?: string
  readonly script?: string
  readonly json?: boolean
}

const PERMISSIONS: readonly Permissions[] = ['ask', 'edits', 'all']

export const prompt = buildCommand<Flags, string[], Context>({
  docs: {
    brief: 'Prompt an agent, in a session that is new or goes on',
    fullDescription:
      "Starts an agent here, in your checkout, gives it the text and prints what it answers. Goes on in the session's latest conversation with that\nagent; where there is none, or it is full, in a fresh one that is given the session's context. What it is asked, says and uses is journalled and\nstored. What it may do is asked about, unless --permissions says it beforehand. Ctrl-C interrupts it, a second one ends it at once.\nExit codes: 0 answered, 1 failed, 130 interrupted.",
    customUsage: [
      {
        input: '"Why does the login test fail?"',
        brief: 'goes on with the session that is active here, or opens one',
      },
      { input: '"Mend it" --permissions edits', brief: 'may edit, commit and test unasked' },
      { input: '- < request.md', brief: 'the text from standard input' },
      { input: '--new "Write the release notes"', brief: 'in a session of its own' },
      {
        input: '--session fix-login --fresh "Go on"',
        brief: 'in a fresh conversation, which is given the session',
      },
      {
        input: '--harness codex --model gpt-5.3-codex "Review this branch"',
        brief: 'another agent',
      },
      { input: '--json "List the risks" > events.jsonl', brief: 'each event as a line of JSON' },
    ],
  },
  parameters: {
    positional: {
      kind: 'array',
      parameter: {
        parse: String,
        brief: 'What to ask, or - for standard input',
        placeholder: 'TEXT',
      },
    },
    flags: {
      session,
      new: toggle('In a new session, whatever is active'),
      conversation: text('Go on in this conversation of the session', 'ID'),
      fresh: toggle('In a fresh conversation'),
      harness: text('claude, codex, api, rehearsal, or acp:COMMAND', 'NAME'),
      model: text('The model, as the harness names it', 'MODEL'),
      permissions: text('ask (as it is without this), edits or all', 'WHICH'),
      script: text('Script of the rehearsal harness', 'FILE'),
      json: toggle('Print each event as a line of JSON'),
    },
  },
  async func(flags, ...words) {
    await withRuns(
      this,
      flags,
      async (project) => {
        const request = requestOf(flags, await textOf(this, words))
        const { exitCodeOfPrompt, showPrompt } = await import('../../print/show-prompt.ts')
        const ended = await showPrompt(this, flags, (tell) => project.prompt(request, tell))
        this.process.exitCode = exitCodeOfPrompt(ended)
      },
      { isLines: true },
    )
  },
})

async function textOf(context: Context, words: readonly string[]): Promise<string> {
  const said = words.length === 1 && words[0] === '-' ? await context.readStdin() : words.join(' ')
  if (said.trim() === '')
    throw new Misuse(
      'say what to ask',
      'stint prompt "Why does the login test fail?", or stint prompt - < FILE',
    )
  return said
}

function requestOf(flags: Flags, said: string): PromptRequest {
  const { session: name, conversation, model, script } = flags
  if (flags.new === true && name !== undefined)
    throw new Misuse('--new is a session of its own, so --session cannot go with it')
  if (flags.new === true && conversation !== undefined)
    throw new Misuse('a new session has no conversation to go on with')
  if (flags.fresh === true && conversation !== undefined)
    throw new Misuse('--fresh begins another conversation than --conversation')
  refuseScript(flags)
  return {
    text: said,
    ...defined({
      session: given('session', name),
      conversation: given('conversation', conversation),
      model: given('model', model),
      script: given('script', script),
      harness: harnessOf(flags.harness),
      permissions: choice('permissions', flags.permissions, PERMISSIONS),
      isNew: flags.new,
      isFresh: flags.fresh,
    }),
  }
}
