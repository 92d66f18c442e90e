import { buildCommand } from '@stricli/core'
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Surroundings } from '../../harness/claude/setup/places.ts'
import type { SetupRequest } from '../../harness/claude/setup/setup-claude.ts'
import type { Context } from '../context.ts'
import { EXIT, Misuse } from '../errors.ts'
import { json, optionalName, text, toggle } from '../flags.ts'
import { withJsonErrors } from '../json-errors.ts'
import { Output } from '../output.ts'

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
  readonly json?: boolean
}

export const setup = buildCommand<Flags, [string?], Context>({
  docs: {
    brief: 'Install Stint into an agent program',
    fullDescription:
      'Registers hooks, slash commands and a status line with Claude Code. What others wrote into its settings stays as it is, byte by byte, and --remove undoes what was done.',
    customUsage: [
      { input: 'claude', brief: 'for you, in this project; git does not see it' },
      { input: 'claude --shared', brief: 'for everybody who works on this project' },
      { input: 'claude --user', brief: 'for you, in every project' },
      { input: 'claude --dry-run', brief: 'show what would be written' },
      { input: 'claude --remove', brief: 'undo it' },
      { input: '--check', brief: 'say whether hooks really fire, from evidence' },
      { input: 'claude --plugin ./stint-plugin', brief: 'write a plugin, in a folder that is a marketplace' },
    ],
  },
  parameters: {
    positional: optionalName('The agent program: claude', 'HARNESS'),
    flags: {
      shared: toggle('Into .claude/settings.json, to be committed'),
      user: toggle('Into your own settings, for every project'),
      plugin: text('As a plugin, into this folder', 'DIR'),
      remove: toggle('Undo a setup'),
      dryRun: toggle('Write nothing and show the difference'),
      check: toggle('Say what is registered and what has fired; exit code 1 when something is wrong'),
      notify: toggle('Also notify you on the desktop when an agent waits'),
      instructions: toggle('Also put a few lines into CLAUDE.md, or AGENTS.md'),
      noStatusLine: toggle('Leave the status line out'),
      json,
    },
  },
  async func(flags, harness) {
    const output = new Output(this)
    await withJsonErrors(this, flags, output, async () => {
      refuseMisuse(harness, flags)
      const { describeReport, describeSetup, setupJson } = await import('../describe-setup.ts')
      const { findPlace } = await import('../../project/place.ts')
      const place = findPlace(this.cwd)
      // Claude Code reads the settings of the worktree that it is started in.
      const root = place.repository?.worktree ?? place.root
      const cwd = realpathSync(this.cwd)
      const around: Surroundings = { root, gitCommonDir: place.repository?.commonDir, env: this.env }
      if (flags.check === true) {
        const { trackingFolderOf } = await import('../../project/conversation-binding.ts')
        const { checkSetup } = await import('../../harness/claude/setup/check.ts')
        const report = await checkSetup(around, { cwd, conversations: trackingFolderOf(place) })
        output.result(flags.json, report, () => describeReport(report, output, root))
        // The report is the answer; only the exit code is left to say that it is not a good one.
        if (!report.isWorking) this.process.exitCode = EXIT.failure
        return
      }
      const { setUpClaude } = await import('../../harness/claude/setup/setup-claude.ts')
      const request = requestFrom(flags, this.cwd)
      const done = await setUpClaude(request, around)
      const { startNote } = await import('../../harness/claude/setup/start-folder.ts')
      const isInProject = typeof request.into === 'string' && !request.remove
      const plan = { ...done, notes: [...done.notes, ...(isInProject ? startNote([request.into], around, cwd) : [])] }
      output.result(flags.json, setupJson(request, plan), () => describeSetup(request, plan, output, root))
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
  }
}

function refuseMisuse(harness: string | undefined, flags: Flags): void {
  const isCheck = flags.check === true
  if (harness !== 'claude' && !(harness === undefined && isCheck)) {
    const problem = harness === undefined ? 'which agent program?' : `there is no setup for "${harness}"`
    throw new Misuse(problem, 'there is one for claude: stint setup claude')
  }
  const places = (['shared', 'user', 'plugin'] as const).filter((flag) => flags[flag] !== undefined && flags[flag] !== false)
  if (places.length > 1) throw new Misuse(`--${places.join(' and --')} cannot go together`, 'choose one place')
  if (flags.plugin === '') throw new Misuse('--plugin needs a folder', 'stint setup claude --plugin ./stint-plugin')
  if (flags.plugin !== undefined && flags.instructions === true) {
    throw new Misuse('a plugin has no instructions', 'leave --instructions out, or set up without --plugin')
  }
  const others = Object.entries(flags).filter(
    ([flag, value]) => !['check', 'json'].includes(flag) && value !== undefined && value !== false,
  )
  if (isCheck && others.length > 0)
    throw new Misuse('--check looks at every place and goes with no other flag', 'stint setup --check')
}
