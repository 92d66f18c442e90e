import {
  type Application,
  type Command,
  type CommandContext,
  type RouteMap,
  buildApplication,
  buildRouteMap,
  generateHelpTextForAllCommands,
  proposeCompletions,
  run,
  text_en,
} from '@stricli/core'
import { type CliContext, EXIT, describeError, exitCodeFor } from './context/context.ts'
import { withCleanOutput } from './context/trusted-output.ts'
import { runSlash } from './slash.ts'

type Route = Command<CliContext> | RouteMap<CliContext>

const lifecycleCommands = () => import('./commands/sessions/lifecycle.ts')
const listAndSearch = () => import('./commands/sessions/list-and-search.ts')
const runCommands = () => import('./commands/work/run.ts')
const delegateCommands = () => import('./commands/work/delegate.ts')
const packCommands = () => import('./commands/see/pack.ts')
const programCommands = () => import('./commands/start/programs.ts')

/** Every command, in the order of `stint --help`, each loaded on demand. */
const COMMANDS = {
  init: async () => (await lifecycleCommands()).init,
  resume: async () => (await lifecycleCommands()).resume,
  log: async () => (await import('./commands/sessions/log.ts')).log,
  checkpoint: async () => (await import('./commands/sessions/checkpoint.ts')).checkpoint,
  handoff: async () => (await import('./commands/sessions/handoff.ts')).handoff,
  view: async () => (await import('./commands/sessions/view.ts')).view,
  pause: async () => (await lifecycleCommands()).pause,
  close: async () => (await lifecycleCommands()).close,
  reopen: async () => (await lifecycleCommands()).reopen,
  list: async () => (await listAndSearch()).list,
  search: async () => (await listAndSearch()).search,
  history: async () => (await import('./commands/sessions/history.ts')).history,
  budget: async () => (await import('./commands/see/budget.ts')).budget,
  task: async () => (await import('./commands/work/task.ts')).task,
  prompt: async () => (await import('./commands/work/prompt.ts')).prompt,
  run: async () => (await runCommands()).run,
  runs: async () => (await runCommands()).runs,
  plan: async () => (await runCommands()).plan,
  delegate: async () => (await delegateCommands()).delegate,
  delegates: async () => (await delegateCommands()).delegates,
  merge: async () => (await import('./commands/work/merge.ts')).merge,
  export: async () => (await import('./commands/more/export.ts')).exportCommand,
  import: async () => (await import('./commands/more/import.ts')).importCommand,
  workflow: async () => (await import('./commands/sessions/workflow.ts')).workflow,
  project: async () => (await packCommands()).project,
  profiles: async () => (await import('./commands/work/profiles.ts')).profiles,
  pack: async () => (await packCommands()).pack,
  serve: async () => (await import('./commands/see/serve.ts')).serve,
  trust: async () => (await import('./commands/start/trust.ts')).trust,
  setup: async () => (await import('./commands/start/setup.ts')).setup,
  mcp: async () => (await programCommands()).mcp,
  digest: async () => (await import('./commands/more/digest.ts')).digest,
  ledger: async () => (await import('./commands/see/ledger.ts')).ledger,
  doctor: async () => (await import('./commands/more/doctor.ts')).doctor,
  purge: async () => (await import('./commands/more/purge.ts')).purge,
  simulate: async () => (await import('./commands/more/simulate.ts')).simulate,
  rehearsal: async () => (await import('./commands/more/rehearsal.ts')).rehearsal,
  hook: async () => (await programCommands()).hook,
  statusline: async () => (await programCommands()).statusline,
  completion: async () => (await programCommands()).completion,
} satisfies Record<string, () => Promise<Route>>

const DOCS = {
  brief: 'Durable sessions for coding agents',
  fullDescription:
    'Stint keeps what was done, decided and found, and gives it back after a compaction, a crash or a closed window.\nEvery command takes --help, and every command that answers something takes --json. Exit codes: 0 ok, 1 expected failure, 2 misuse, 70 defect.',
}

/** Loads the named command, or all commands for the help and for suggestions. */
async function loadRoutes(word?: string): Promise<RouteMap<CliContext>> {
  const isCommand = word !== undefined && Object.hasOwn(COMMANDS, word)
  const names = (isCommand ? [word] : Object.keys(COMMANDS)) as (keyof typeof COMMANDS)[]
  const loaded = await Promise.all(
    names.map(async (name) => [name, await COMMANDS[name]()] as const),
  )
  return buildRouteMap<string, CliContext>({ routes: Object.fromEntries(loaded), docs: DOCS })
}

function createApplication(routes: RouteMap<CliContext>, version: string): Application<CliContext> {
  return buildApplication(routes, {
    name: 'stint',
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: 'allow-kebab-for-camel', allowArgumentEscapeSequence: true },
    documentation: {
      useAliasInUsageLine: false,
      onlyRequiredInUsageLine: true,
      disableAnsiColor: true,
    },
    determineExitCode: exitCodeFor,
    localization: { text: { ...text_en, exceptionWhileRunningCommand: describeError } },
  })
}

/** The help of every command on one page, for docs/commands.md. */
export async function helpForAllCommands(): Promise<string> {
  const commands = generateHelpTextForAllCommands(
    createApplication(await loadRoutes(), '0.0.0') as unknown as Application<CommandContext>,
  )
  const sections = commands.map(
    ([name, text]) => `## ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`,
  )
  return `# Every command and flag\n\n${sections.join('\n')}`
}

/** For a group with a default command, the parser proposes only the completions of that command. */
function completeSubcommand(
  routes: RouteMap<CliContext>,
  [command = '', partial, ...more]: readonly string[],
): readonly string[] {
  const target = routes.getAllEntries().find(({ name }) => name.original === command)?.target
  if (
    partial === undefined ||
    more.length > 0 ||
    target === undefined ||
    !('getDefaultCommand' in target)
  )
    return []
  if (target.getDefaultCommand() === undefined) return []
  const names = target
    .getAllEntries()
    .flatMap(({ name, hidden }) => (hidden ? [] : [name.original]))
  return names.filter((name) => name.startsWith(partial))
}

/** Runs one command line and returns its exit code. Nothing that it prints steers the terminal but our own sequences. */
export function runCommandLine(
  args: readonly string[],
  context: CliContext,
  version: string,
): Promise<number> {
  return runCleaned(args, withCleanOutput(context), version)
}

async function runCleaned(
  args: readonly string[],
  context: CliContext,
  version: string,
): Promise<number> {
  if (args[0] === '__complete') {
    const commandLine = args.slice(1)
    const routes = await loadRoutes()
    const app = createApplication(routes, version)
    const proposals = await proposeCompletions(app, commandLine, context)
    const names = [
      ...completeSubcommand(routes, commandLine),
      ...proposals.map((proposal) => proposal.completion),
    ]
    for (const name of names) context.process.stdout.write(`${name}\n`)
    return EXIT.ok
  }
  if (args[0] === 'slash')
    return runSlash(args.slice(1), context, (commandLine, inner) =>
      runCleaned(commandLine, inner, version),
    )
  const commandLine = args[0] === 'help' ? [...args.slice(1), '--help'] : args
  await run(createApplication(await loadRoutes(commandLine[0]), version), commandLine, context)
  const code = context.process.exitCode
  // The parser's own exit codes are negative: -4 and -5 are an unknown command or argument, the rest are defects.
  if (typeof code !== 'number' || code >= 0) return typeof code === 'number' ? code : EXIT.ok
  return code === -4 || code === -5 ? EXIT.misuse : EXIT.defect
}
