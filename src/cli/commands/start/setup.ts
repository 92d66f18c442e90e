import { resolve } from 'node:path'
import {
  DEFAULT_HARNESS,
  type HarnessSetup,
  type SetupRequest,
  checkHarnessSetup,
  findHarness,
  installableHarnesses,
  setUpHarness,
} from '../../../core.ts'
import { StintError } from '../../../public/projection.ts'
import { type Flags as FlagsOf, defineCommand, flagName } from '../../context/command.ts'
import { EXIT, UsageError } from '../../context/context.ts'
import { optionalArgument, textFlag, toggle } from '../../context/flags.ts'

const FLAGS = {
  shared: toggle('Into .claude/settings.json, to be committed'),
  user: toggle('Into your own settings, for every project'),
  plugin: textFlag('As a plugin, into this folder', 'DIR'),
  remove: toggle('Undo a setup'),
  dryRun: toggle('Write nothing and show the difference'),
  check: toggle('Say what is registered and what has fired; exit code 1 when something is wrong'),
  notify: toggle('Also notify you on the desktop when an agent waits'),
  instructions: toggle('Also put a few lines into CLAUDE.md, or AGENTS.md'),
  noStatusLine: toggle('Leave the status line out'),
  tokenEfficientTools: toggle(
    'Also ask for calls of tools in fewer tokens; only Claude Sonnet 3.7 needs it',
  ),
  mcp: toggle('Also put the MCP server into a .mcp.json that others wrote'),
  noMcp: toggle('Leave the MCP server out'),
  yes: toggle('Also write through symbolic links that lead out of the project'),
}

type Flags = FlagsOf<typeof FLAGS>

export const setup = defineCommand({
  brief: 'Install Stint into an agent program',
  about:
    'Registers hooks, slash commands, a status line and the MCP server with Claude Code; with Codex the MCP server. What others wrote into its settings stays as it is, byte by byte, and --remove undoes what was done.',
  usage: [
    [DEFAULT_HARNESS, 'for you, in this project; git does not see it'],
    ['claude --shared', 'for everybody who works on this project'],
    ['claude --user', 'for you, in every project'],
    ['claude --dry-run', 'show what would be written'],
    ['claude --remove', 'undo it'],
    ['claude --no-mcp', 'without the MCP server'],
    [`codex`, 'the MCP server, in .codex/config.toml'],
    ['--check', 'say whether hooks really fire, from evidence'],
    ['claude --plugin ./stint-plugin', 'write a plugin, in a folder that is a marketplace'],
  ],
  args: [optionalArgument('The agent program: claude or codex', 'HARNESS')],
  flags: FLAGS,
  async run({ context, output, print, exit }, flags, harness) {
    const name = harness ?? DEFAULT_HARNESS
    const { title, setup: loadSetup } = findHarness(name) ?? {}
    const harnessSetup = await loadSetup?.()
    if (harnessSetup === undefined || (harness === undefined && !flags.check)) {
      const names = installableHarnesses().map((each) => `one for ${each}`)
      throw new UsageError(
        harness === undefined ? 'which agent program?' : `there is no setup for "${harness}"`,
        `there is ${names.join(' and ')}: stint setup ${DEFAULT_HARNESS}`,
      )
    }
    refuseConflicts(name, flags, harnessSetup)
    const { describeSetupReport, describeSetup, setupJson } = await import('../../print/setup.ts')
    if (flags.check) {
      const { root, report } = await checkHarnessSetup(harnessSetup, context)
      print(report, () => describeSetupReport(report, output, root))
      // The report is the result, so only the exit code signals a problem.
      if (!report.isWorking) exit(EXIT.failure)
      return
    }
    const request = requestFrom(flags, context.cwd)
    const { root, plan } = await setUpHarness(harnessSetup, request, context).catch(
      async (error: unknown) => {
        if (!isLinked(error) || !context.canAsk) throw error
        const { askYes } = await import('../../context/ask.ts')
        if (!(await askYes(`${error.message}. Write there?`))) throw error
        return setUpHarness(harnessSetup, { ...request, followLinks: true }, context)
      },
    )
    print(setupJson(request, plan, name), () =>
      describeSetup(request, plan, output, root, { title: title!, ...harnessSetup }),
    )
  },
})

function isLinked(error: unknown): error is StintError {
  return error instanceof StintError && error.code === 'SETUP_LINKED'
}

function requestFrom(flags: Flags, cwd: string): SetupRequest {
  const { remove = false, dryRun = false, notify = false, instructions = false } = flags
  const { tokenEfficientTools = false, noStatusLine = false } = flags
  const scope = flags.user ? 'user' : flags.shared ? 'shared' : 'local'
  return {
    into: flags.plugin === undefined ? scope : { plugin: resolve(cwd, flags.plugin) },
    remove,
    dryRun,
    notify,
    instructions,
    statusLine: !noStatusLine,
    tokenEfficientTools,
    followLinks: flags.yes ?? false,
    mcp: flags.noMcp ? 'no' : flags.mcp ? 'everywhere' : 'yes',
  }
}

function refuseConflicts(harness: string, flags: Flags, harnessSetup: HarnessSetup): void {
  const givenFlags = Object.keys(flags).filter((flag) => flags[flag as keyof Flags] !== false)
  const unsupported = givenFlags.find((flag) => !harnessSetup.supportedFlags.has(flag))
  if (unsupported !== undefined) {
    throw new UsageError(
      `${flagName(unsupported)} is not for ${harness}`,
      `stint setup ${harness} takes --shared, --dry-run and --remove`,
    )
  }
  const scopes = givenFlags.filter((flag) => ['shared', 'user', 'plugin'].includes(flag))
  if (scopes.length > 1)
    throw new UsageError(`--${scopes.join(' and --')} cannot go together`, 'choose one place')
  if (flags.mcp && flags.noMcp)
    throw new UsageError('--mcp and --no-mcp cannot go together', 'choose one')
  if (flags.mcp && flags.user) {
    throw new UsageError(
      'servers for every project stand in a file that Claude Code keeps itself',
      'stint setup claude --user prints the command that adds it',
    )
  }
  if (flags.plugin === '')
    throw new UsageError('--plugin needs a folder', 'stint setup claude --plugin ./stint-plugin')
  if (flags.plugin !== undefined && flags.instructions) {
    throw new UsageError(
      'a plugin has no instructions',
      'leave --instructions out, or set up without --plugin',
    )
  }
  if (flags.tokenEfficientTools && flags.plugin !== undefined) {
    throw new UsageError(
      'a plugin has no environment',
      'leave --token-efficient-tools out, or set up without --plugin',
    )
  }
  if (flags.tokenEfficientTools && flags.remove) {
    throw new UsageError(
      '--remove takes out everything',
      'stint setup claude --remove, then set up again without the flag',
    )
  }
  if (flags.check && givenFlags.some((flag) => flag !== 'check'))
    throw new UsageError(
      '--check looks at every place and goes with no other flag',
      'stint setup --check',
    )
}
