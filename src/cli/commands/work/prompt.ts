import { defined } from '../../../text/defined.ts'
import { UsageError } from '../../context/context.ts'
import {
  argument,
  checkedFlag,
  nonEmptyFlag,
  nonEmpty,
  sessionFlag,
  toggle,
} from '../../context/flags.ts'
import { harnessFlag, permissionsFlag, refuseScriptFlag } from '../../context/run-flags.ts'
import { defineRunCommand } from '../../context/command.ts'

export const prompt = defineRunCommand({
  brief: 'Prompt an agent, in a session that is new or goes on',
  about:
    "Starts an agent here, in your checkout, gives it the text and prints what it answers. Goes on in the session's latest conversation with that\nagent; where there is none, or it is full, in a fresh one that is given the session's context. What it is asked, says and uses is journalled and\nstored. What it may do is asked about, unless --permissions says it beforehand. Ctrl-C interrupts it, a second one ends it at once.\nExit codes: 0 answered, 1 failed, 130 interrupted.",
  usage: [
    [
      '"Why does the login test fail?"',
      'goes on with the session that is active here, or opens one',
    ],
    ['"Mend it" --permissions edits', 'may edit, commit and test unasked'],
    ['- < request.md', 'the text from standard input'],
    ['--new "Write the release notes"', 'in a session of its own'],
    ['--session fix-login --fresh "Go on"', 'in a fresh conversation, which is given the session'],
    ['--harness codex --model gpt-5.3-codex "Review this branch"', 'another agent'],
    ['--json "List the risks" > events.jsonl', 'each event as a line of JSON'],
  ],
  args: argument('What to ask, or - for standard input', 'TEXT'),
  flags: {
    session: checkedFlag(sessionFlag, nonEmpty),
    new: toggle('In a new session, whatever is active'),
    conversation: nonEmptyFlag('Go on in this conversation of the session', 'ID'),
    fresh: toggle('In a fresh conversation'),
    harness: harnessFlag('claude, codex, api, rehearsal, or acp:COMMAND'),
    model: nonEmptyFlag('The model, as the harness names it', 'MODEL'),
    permissions: permissionsFlag('ask (as it is without this), edits or all', 'WHICH'),
    script: nonEmptyFlag('Script of the rehearsal harness', 'FILE'),
  },
  json: 'Print each event as a line of JSON',
  isLines: true,
  async run({ project, context, exit, json }, flags, ...args) {
    const { new: isNew, fresh: isFresh, ...request } = flags
    const isStdin = args.length === 1 && args[0] === '-'
    const text = isStdin ? await context.readStdin() : args.join(' ')
    if (text.trim() === '')
      throw new UsageError(
        'say what to ask',
        'stint prompt "Why does the login test fail?", or stint prompt - < FILE',
      )
    if (isNew && request.session !== undefined)
      throw new UsageError('--new is a session of its own, so --session cannot go with it')
    if (isNew && request.conversation !== undefined)
      throw new UsageError('a new session has no conversation to go on with')
    if (isFresh && request.conversation !== undefined)
      throw new UsageError('--fresh begins another conversation than --conversation')
    refuseScriptFlag(request)
    const { exitCodeOfPrompt, showPrompt } = await import('../../print/show-prompt.ts')
    const ended = await showPrompt(context, { json }, (onEvent) =>
      project.prompt({ text, ...request, ...defined({ isNew, isFresh }) }, onEvent),
    )
    exit(exitCodeOfPrompt(ended))
  },
})
