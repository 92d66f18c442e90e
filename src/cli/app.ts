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
import { runSlash } from './slash.ts'

type Route = Command<CliContext> | RouteMap<CliContext>

const lifecycle = () => import('./commands/sessions/lifecycle.ts')
const find = () => import('./commands/sessions/list-and-search.ts')
const running = () => import('./commands/work/run.ts')
const delegating = () => import('./commands/work/delegate.ts')
const packing = () => import('./commands/see/pack.ts')
const programs = () => import('./commands/start/programs.ts')

/** Every command, in the order of `stint --help`. Each is loaded when it is asked for. */
const COMMANDS = {
  init: async () => (await lifecycle()).init,
  resume: async () => (await lifecycle()).resume,
  log: async () => (await import('./commands/sessions/log.ts')).log,
  checkpoint: async () => (await import('./commands/sessions/checkpoint.ts')).checkpoint,
  handoff: async () => (await import('./commands/sessions/handoff.ts')).handoff,
  view: async () => (await import('./commands/sessions/view.ts')).view,
  pause: async () => (await lifecycle()).pause,
  close: async () => (await lifecycle()).close,
  reopen: async () => (await lifecycle()).reopen,
  list: async () => (await find()).list,
  search: async () => (await find()).search,
  history: async () => (await import('./commands/sessions/history.ts')).history,
  budget: async () => (await import('./commands/see/budget.ts')).budget,
  task: async () => (await import('./commands/work/task.ts')).task,
  prompt: async () => (await import('./commands/work/prompt.ts')).prompt,
  run: async () => (await running()).run,
  runs: async () => (await running()).runs,
  plan: async () => (await running()).plan,
  delegate: async () => (await delegating()).delegate,
  delegates: async () => (await delegating()).delegates,
  merge: async () => (await import('./commands/work/merge.ts')).merge,
  export: async () => (await import('./commands/more/export.ts')).exportCommand,
  import: async () => (await import('./commands/more/import.ts')).importCommand,
  workflow: async () => (await import('./commands/sessions/workflow.ts')).workflow,
  project: async () => (await packing()).project,
  profiles: async () => (await import('./commands/work/profiles.ts')).profiles,
  pack: async () => (await packing()).pack,
  serve: async () => (await import('./commands/see/serve.ts')).serve,
  setup: async () => (await import('./commands/start/setup.ts')).setup,
  mcp: async () => (await programs()).mcp,
  digest: async () => (await import('./commands/more/digest.ts')).digest,
  ledger: async () => (await import('./commands/see/ledger.ts')).ledger,
  doctor: async () => (await import('./commands/more/doctor.ts')).doctor,
  purge: async () => (await import('./commands/more/purge.ts')).purge,
  simulate: async () => (await import('./commands/more/simulate.ts')).simulate,
  rehearsal: async () => (await import('./commands/more/rehearsal.ts')).rehearsal,
  hook: async () => (await programs()).hook,
  statusline: async () => (await programs()).statusline,
  completion: async () => (await programs()).completion,
} satisfies Record<string, () => Promise<Route>>

const DOCS = {
  brief: 'Durable sessions for coding agents',
  fullDescription:
    'Stint keeps what was done, decided and found, and gives it back after a compaction, a crash or a closed window.\nEvery command takes --help, and every command that answers something takes --json. Exit codes: 0 ok, 1 expected failure, 2 misuse, 70 defect.',
}

/** The command that the word names. If it names none, all of them: for the help, and to suggest what was meant. */
async function loadRoutes(word?: string): Promise<RouteMap<CliContext>> {
  const isCommand = word !== undefined && Object.hasOwn(COMMANDS, word)
  const names = (isCommand ? [word] : Object.keys(COMMANDS)) as (keyof typeof COMMANDS)[]
  const loaded = await Promise.all(
    names.map(async (name) => [name, await COMMANDS[name]()] as const),
  )
  return buildRouteMap<string, CliContext>({ routes: Object.fromEntries(loaded), docs: DOCS })
}

function application(routes: RouteMap<CliContext>, version: string): Application<CliContext> {
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

/** Every command's help on one page, as the reference shows it. */
export async function helpForAllCommands(): Promise<string> {
  const commands = generateHelpTextForAllCommands(
    application(await loadRoutes(), '0.0.0') as unknown as Application<CommandContext>,
  )
  const parts = commands.map(
    ([name, text]) => `## ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`,
  )
  return `# Every command and flag\n\n${parts.join('\n')}`
}

/** Of a command that also does something without a subcommand the parser proposes nothing but what goes with that. */
function subcommands(
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

/** Runs one command line and answers its exit code. */
export async function runCommandLine(
  args: readonly string[],
  context: CliContext,
  version: string,
): Promise<number> {
  if (args[0] === '__complete') {
    const words = args.slice(1)
    const routes = await loadRoutes()
    const app = application(routes, version)
    const proposals = await proposeCompletions(app, words, context)
    const names = [
      ...subcommands(routes, words),
      ...proposals.map((proposal) => proposal.completion),
    ]
    for (const name of names) context.process.stdout.write(`${name}\n`)
    return EXIT.ok
  }
  if (args[0] === 'slash')
    return runSlash(args.slice(1), context, (words, inner) => runCommandLine(words, inner, version))
  const words = args[0] === 'help' ? [...args.slice(1), '--help'] : args
  await run(application(await loadRoutes(words[0]), version), words, context)
  const code = context.process.exitCode
  // The parser counts its own refusals downwards from zero: an unknown command or argument is misuse, the rest a defect.
  if (typeof code !== 'number' || code >= 0) return typeof code === 'number' ? code : EXIT.ok
  return code === -4 || code === -5 ? EXIT.misuse : EXIT.defect
}
