// Any agent that speaks the Agent Client Protocol, version 1.
import { StintError } from '../../journal/errors.ts'
import { commandWords } from '../../text/command-words.ts'
import type { Capabilities, DriveRequest, Harness } from '../contract/drive.ts'
import type { AcpProgram } from './drive/start-agent.ts'

export interface AcpOptions extends AcpProgram {
  /** Where an agent is known to do more or less than most. */
  readonly capabilities?: Partial<Capabilities>
}

/**
 * What the protocol offers, which not every agent takes up: some tell no compaction and no use. Permissions are kept as far as
 * the agent asks; one that was configured not to ask is not held back by us.
 */
const CAPABILITIES: Capabilities = {
  multiTurn: true,
  usage: 'turn',
  compactionEvents: true,
  resume: true,
  systemPrompt: false,
  permissions: ['ask', 'edits', 'all'],
  instructions: [],
}

/** The agent that `acp:COMMAND ARGUMENTS` means. */
export function agentFor({ argument = '' }: DriveRequest): Harness {
  const [command, ...args] = commandWords(argument) ?? []
  if (command === undefined)
    throw new StintError(
      'NO_HARNESS',
      `a quotation does not end in acp:${argument}`,
      'close it, or leave it away',
    )
  return acpHarness({ name: 'acp', command, args })
}

export function acpHarness({ capabilities, ...program }: AcpOptions): Harness {
  // The protocol's schemas take longer to load than most commands to run.
  const loaded = () => import('./drive/open-agent.ts')
  return {
    name: program.name,
    capabilities: { ...CAPABILITIES, ...capabilities },
    check: async (env) => (await loaded()).checkAgent(program, env),
    open: async (options) => (await loaded()).openConversation(program, options),
  }
}
