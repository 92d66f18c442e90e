import type { PlaceReport, SetupProblem, SetupReport } from '../../contract/setup.ts'
import { PROBE_ANSWER } from '../../setup/hook-command.ts'

export function problemsOf(
  findings: Omit<SetupReport, 'problems' | 'isWorking'>,
  isProject: boolean,
): readonly SetupProblem[] {
  const ofUse = isProject ? ofFirings(findings) : [NO_PROJECT]
  return [
    ...ofFiles(findings),
    ...ofBoth(findings),
    ...ofCommand(findings),
    ...ofServer(findings),
    ...ofUse,
  ]
}

const NO_PROJECT: SetupProblem = {
  kind: 'no project',
  what: 'this folder is neither a git repository nor has sessions (.sessions/), so that hooks do nothing here',
  advice: 'git init, or: stint setup claude, which makes the folder for sessions',
}

const FLAG = { local: '', shared: ' --shared', user: ' --user' }

type Findings = Parameters<typeof problemsOf>[0]

function ofFiles({ places, disabledBy }: Findings): readonly SetupProblem[] {
  const each = places.flatMap(({ status, scope, path, reason }): SetupProblem[] => {
    if (status === 'unreadable') {
      return [
        {
          kind: 'unreadable',
          what: reason ?? path,
          advice: 'Claude Code ignores such a file; correct it',
        },
      ]
    }
    if (status !== 'outdated') return []
    return [
      {
        kind: 'outdated',
        what: `${path} is from another version of Stint`,
        advice: `stint setup claude${FLAG[scope]}`,
      },
    ]
  })
  const missing: SetupProblem = {
    kind: 'not registered',
    what: 'no hooks are registered',
    advice: 'stint setup claude',
  }
  const disabled = disabledBy.map((path): SetupProblem => ({
    kind: 'disabled',
    what: `${path} turns every hook off`,
    advice: 'take "disableAllHooks" out of it',
  }))
  return [...each, ...(isRegistered({ places }) ? [] : [missing]), ...disabled]
}

/**
 * Claude Code runs identical commands of several settings files once, but those of a plugin again.
 */
function ofBoth({ places }: Findings): readonly SetupProblem[] {
  const settings = places.find(({ status }) => status === 'current' || status === 'outdated')
  const plugin = places.find((place) => place.plugin !== undefined)?.plugin
  if (settings === undefined || plugin === undefined) return []
  return [
    {
      kind: 'twice',
      what: `hooks run twice: ${settings.path} registers them, and so does the plugin ${plugin}`,
      advice: `stint setup claude${FLAG[settings.scope]} --remove, or: claude plugin uninstall ${plugin}`,
    },
  ]
}

function ofCommand({ command }: Findings): readonly SetupProblem[] {
  const { foundBy, exitCode, output } = command
  if (foundBy !== null && (exitCode !== 0 || output !== PROBE_ANSWER)) {
    const said = output === '' ? ' and said nothing' : `, saying: ${output.slice(0, 200)}`
    return [
      {
        kind: 'not answering',
        what: `the hook command ended with ${exitCode ?? 'a signal'}${said}`,
        advice: 'stint doctor shows what went wrong',
      },
    ]
  }
  if (foundBy !== null) return []
  return [
    {
      kind: 'not found',
      what: 'the hook command finds no Stint on this machine',
      advice: 'npm install --global stint, then: stint setup claude',
    },
  ]
}

/** Only a server that setup registered: leaving it out or refusing it is no problem. */
function ofServer({ server, command }: Findings): readonly SetupProblem[] {
  const outdated = server.places
    .filter(({ status }) => status === 'outdated')
    .map(({ path }): SetupProblem => ({
      kind: 'server outdated',
      what: `the MCP server in ${path} is from another version of Stint`,
      advice: 'stint setup claude, or with --shared',
    }))
  if (server.answer === null || server.answer.isWell || command.foundBy === null) return outdated
  return [
    ...outdated,
    {
      kind: 'server not answering',
      what: `the MCP server does not answer: ${server.answer.said}`,
      advice: 'stint mcp < /dev/null says why; stint setup claude --no-mcp leaves it out',
    },
  ]
}

function ofFirings({ places, fired }: Findings): readonly SetupProblem[] {
  if (!isRegistered({ places }) || Object.values(fired).some((at) => at !== null)) return []
  return [
    {
      kind: 'never fired',
      what: 'no hook has fired in this project yet',
      advice:
        'start claude here, accept that the folder is trusted, type a prompt, and check again',
    },
  ]
}

function isRegistered({ places }: Pick<Findings, 'places'>): boolean {
  return places.some(isRegisteredIn)
}

export function isRegisteredIn({ status, plugin }: PlaceReport): boolean {
  return status === 'current' || status === 'outdated' || plugin !== undefined
}
