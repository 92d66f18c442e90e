import {
  DEFAULT_HARNESS,
  type HarnessSetup,
  type SetupRequest,
  checkSetup,
  findHarness,
  installableHarnesses,
  setUpHarness,
} from '../../../core.ts'
import { buildCommand } from '@stricli/core'

import { resolve } from 'node:path'
import type { Context } from '../../context/context.ts'
import { EXIT, Misuse } from '../../context/errors.ts'
import { json, optionalName, text, toggle } from '../../context/flags.ts'
import { Output, withJsonErrors } from '../../context/output.ts'

interface Flags {
  readonly shared?: boolean
  readonly user?: boolean
  readonly plugin?: string
  readonly remove?: boolean
  readonly dryRun?: boolean
  readonly check?: boolean
  readonly notify?: boolean
  readonly instructions?: boolean
  readonly noStatusLine?: boolean
  readonly tokenEfficientTools?: boolean
  readonly mcp?: boolean
  readonly noMcp?: boolean
  readonly json?: boolean
}

export const setup = buildCommand<Flags, [string?], Context>({
  docs: {
    brief: 'Install Stint into an agent program',
    fullDescription:
      'Registers hooks, slash commands, a status line and the MCP server with Claude Code; with Codex the MCP server. What others wrote into its settings stays as it is, byte by byte, and --remove undoes what was done.',
    customUsage: [
      { input: 'claude', brief: 'for you, in this project; git does not see it' },
      { input: 'claude --shared', brief: 'for everybody who works on this project' },
      { input: 'claude --user', brief: 'for you, in every project' },
      { input: 'claude --dry-run', brief: 'show what would be written' },
      { input: 'claude --remove', brief: 'undo it' },
      { input: 'claude --no-mcp', brief: 'without the MCP server' },
      { input: 'codex', brief: 'the MCP server, in .codex/config.toml' },
      { input: '--check', brief: 'say whether hooks really fire, from evidence' },
      {
        input: 'claude --plugin ./stint-plugin',
        brief: 'write a plugin, in a folder that is a marketplace',
      },
    ],
  },
  parameters: {
    positional: optionalName('The agent program: claude or codex', 'HARNESS'),
    flags: {
      shared: toggle('Into .claude/settings.json, to be committed'),
      user: toggle('Into your own settings, for every project'),
      plugin: text('As a plugin, into this folder', 'DIR'),
      remove: toggle('Undo a setup'),
      dryRun: toggle('Write nothing and show the difference'),
      check: toggle(
        'Say what is registered and what has fired; exit code 1 when something is wrong',
      ),
      notify: toggle('Also notify you on the desktop when an agent waits'),
      instructions: toggle('Also put a few lines into CLAUDE.md, or AGENTS.md'),
      noStatusLine: toggle('Leave the status line out'),
      tokenEfficientTools: toggle(
        'Also ask for calls of tools in fewer tokens; only Claude Sonnet 3.7 needs it',
      ),
      mcp: toggle('Also put the MCP server into a .mcp.json that others wrote'),
      noMcp: toggle('Leave the MCP server out'),
      json,
    },
  },
  async func(flags, harness) {
    const output = new Output(this)
    await withJsonErrors(this, flags, output, async () => {
      const name = harness ?? DEFAULT_HARNESS
      const { title, setup: load } = findHarness(name) ?? {}
      const setUp = await load?.()
      refuseMisuse(harness, flags, setUp)
      const { describeReport, describeSetup, setupJson } = await import('../../print/setup.ts')
      if (flags.check === true) {
        const { root, report } = await checkSetup(setUp, this)
        output.result(flags.json, report, () => describeReport(report, output, root))
        // The report is the answer; only the exit code is left to say that it is not a good one.
        if (!report.isWorking) this.process.exitCode = EXIT.failure
        return
      }
      const request = requestFrom(flags, this.cwd)
      const { root, plan } = await setUpHarness(setUp, request, this)
      output.result(flags.json, setupJson(request, plan, name), () =>
        describeSetup(request, plan, output, root, { title: title!, ...setUp }),
      )
    })
  },
})

function requestFrom(flags: Flags, cwd: string): SetupRequest {
  const scope = flags.user === true ? 'user' : flags.shared === true ? 'shared' : 'local'
  return {
    into: flags.plugin === undefined ? scope : { plugin: resolve(cwd, flags.plugin) },
    remove: flags.remove === true,
    dryRun: flags.dryRun === true,
    notify: flags.notify === true,
    instructions: flags.instructions === true,
    statusLine: flags.noStatusLine !== true,
    tokenEfficientTools: flags.tokenEfficientTools === true,
    mcp: flags.noMcp === true ? 'no' : flags.mcp === true ? 'everywhere' : 'yes',
  }
}

function refuseMisuse(
  harness: string | undefined,
  flags: Flags,
  setUp: HarnessSetup | undefined,
): asserts setUp is HarnessSetup {
  const isCheck = flags.check === true
  if (setUp === undefined || (harness === undefined && !isCheck)) {
    const problem =
      harness === undefined ? 'which agent program?' : `there is no setup for "${harness}"`
    const ones = installableHarnesses().map((name) => `one for ${name}`)
    throw new Misuse(problem, `there is ${ones.join(' and ')}: stint setup ${DEFAULT_HARNESS}`)
  }
  const stray = Object.entries(flags).find(
    ([flag, value]) => !setUp.takes.has(flag) && value !== undefined && value !== false,
  )
  if (stray !== undefined) {
    const flag = stray[0].replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    throw new Misuse(
      `--${flag} is not for ${harness}`,
      `stint setup ${harness} takes --shared, --dry-run and --remove`,
    )
  }
  const places = (['shared', 'user', 'plugin'] as const).filter(
    (flag) => flags[flag] !== undefined && flags[flag] !== false,
  )
  if (places.length > 1)
    throw new Misuse(`--${places.join(' and --')} cannot go together`, 'choose one place')
  if (flags.mcp === true && flags.noMcp === true)
    throw new Misuse('--mcp and --no-mcp cannot go together', 'choose one')
  if (flags.mcp === true && flags.user === true) {
    throw new Misuse(
      'servers for every project stand in a file that Claude Code keeps itself',
      'claude mcp add --scope user stint -- stint mcp',
    )
  }
  if (flags.plugin === '')
    throw new Misuse('--plugin needs a folder', 'stint setup claude --plugin ./stint-plugin')
  if (flags.plugin !== undefined && flags.instructions === true) {
    throw new Misuse(
      'a plugin has no instructions',
      'leave --instructions out, or set up without --plugin',
    )
  }
  if (flags.tokenEfficientTools === true && flags.plugin !== undefined) {
    throw new Misuse(
      'a plugin has no environment',
      'leave --token-efficient-tools out, or set up without --plugin',
    )
  }
  if (flags.tokenEfficientTools === true && flags.remove === true) {
    throw new Misuse(
      '--remove takes out everything',
      'stint setup claude --remove, then set up again without the flag',
    )
  }
  const others = Object.entries(flags).filter(
    ([flag, value]) => !['check', 'json'].includes(flag) && value !== undefined && value !== false,
  )
  if (isCheck && others.length > 0)
    throw new Misuse(
      '--check looks at every place and goes with no other flag',
      'stint setup --check',
    )
}
