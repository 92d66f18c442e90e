import { StintError } from '../../journal/errors.ts'
import { commandWords } from '../../text/command-words.ts'
import type { Capabilities, DriveRequest, Harness } from '../contract/drive.ts'
import { missingProgram } from '../process/find-program.ts'
import type { AcpProgram } from './drive/start-agent.ts'

export interface AcpOptions extends AcpProgram {
  readonly capabilities?: Partial<Capabilities>
}

const PROGRAM_HINT = 'install it, or put its folder on the PATH'

/** Agents that do not ask for permission are not restricted by these. */
const CAPABILITIES: Capabilities = {
  multiTurn: true,
  usage: 'turn',
  compactionEvents: true,
  resume: true,
  systemPrompt: false,
  permissions: ['ask', 'edits', 'all'],
  instructions: [],
}

export function acpHarnessFor({ argument = '' }: DriveRequest): Harness {
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
  // The protocol's schemas take longer to load than most commands take to run.
  const loaded = () => import('./drive/conversation.ts')
  const missing = async (env: NodeJS.ProcessEnv) =>
    missingProgram(program.command, env, PROGRAM_HINT)
  return {
    name: program.name,
    capabilities: { ...CAPABILITIES, ...capabilities },
    missing,
    async check(env) {
      const lacks = await missing(env)
      return lacks === undefined
        ? (await loaded()).checkAgent(program, env)
        : { isThere: false, ...lacks }
    },
    open: async (options) => (await loaded()).openConversation(program, options),
  }
}
