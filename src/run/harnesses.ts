import { acpHarness } from '../harness/acp/acp-harness.ts'
import { claudeHarness } from '../harness/claude/drive/harness.ts'
import { codexHarness } from '../harness/codex/harness.ts'
import type { Harness } from '../harness/contract.ts'
import { rehearsalHarness } from '../harness/rehearsal/rehearsal-harness.ts'
import { StintError } from '../journal/errors.ts'
import { commandWords } from '../text/command-words.ts'

export const HARNESSES = ['claude', 'codex', 'rehearsal'] as const

/** The harness that a name means: one of ours, or `acp:COMMAND ARGUMENTS` for any agent that speaks ACP. */
export function harnessNamed(name: string, options: { script?: string; state?: string } = {}): Harness {
  if (name.startsWith('acp:')) return agentNamed(name.slice('acp:'.length))
  if (options.script !== undefined && name !== 'rehearsal') {
    throw new StintError('NO_SCRIPT', `${name} follows no script`, 'leave --script away, or add --harness rehearsal')
  }
  if (name === 'claude') return claudeHarness
  if (name === 'codex') return codexHarness
  if (name === 'rehearsal') return rehearsalHarness(options)
  throw new StintError(
    'NO_HARNESS',
    `there is no harness "${name}"`,
    `there are ${HARNESSES.join(', ')}, and acp:COMMAND for any agent that speaks ACP`,
  )
}

function agentNamed(line: string): Harness {
  const words = commandWords(line)
  if (words === undefined)
    throw new StintError('NO_HARNESS', `a quotation does not end in acp:${line}`, 'close it, or leave it away')
  const [command, ...args] = words
  if (command === undefined) throw new StintError('NO_HARNESS', 'acp: names no command', 'acp:gemini --acp, for example')
  return acpHarness({ name: 'acp', command, args })
}
