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
import type { Context } from './context/context.ts'
import { EXIT, describeError, exitCodeFor } from './context/errors.ts'
import { runSlash } from './slash.ts'

type Route = Command<Context> | RouteMap<Context>

/** Every command, in the order of `stint --help`. Each is loaded when it is asked for. */
const COMMANDS = {
  init: () => import('./commands/sessions/init.ts').then((module) => module.init),
  resume: () => import('./commands/sessions/resume.ts').then((module) => module.resume),
  log: () => import('./commands/sessions/log.ts').then((module) => module.log),
  checkpoint: () => import('./commands/sessions/checkpoint.ts').then((module) => module.checkpoint),
  handoff: () => import('./commands/sessions/handoff.ts').then((module) => module.handoff),
  view: () => import('./commands/sessions/view.ts').then((module) => module.view),
  pause: () => import('./commands/sessions/finish.ts').then((module) => module.pause),
  close: () => import('./commands/sessions/finish.ts').then((module) => module.close),
  reopen: () => import('./commands/sessions/finish.ts').then((module) => module.reopen),
  list: () => import('./commands/sessions/list.ts').then((module) => module.list),
  search: () => import('./commands/sessions/search.ts').then((module) => module.search),
  history: () => import('./commands/sessions/history.ts').then((module) => module.history),
  budget: () => import('./commands/see/budget.ts').then((module) => module.budget),
  task: () => import('./commands/work/task.ts').then((module) => module.task),
  prompt: () => import('./commands/work/prompt.ts').then((module) => module.prompt),
  run: () => import('./commands/work/run.ts').then((module) => module.run),
  runs: () => import('./commands/work/runs.ts').then((module) => module.runs),
  plan: () => import('./commands/work/plan.ts').then((module) => module.plan),
  delegate: () => import('./commands/work/delegate.ts').then((module) => module.delegate),
  delegates: () => import('./commands/work/delegates.ts').then((module) => module.delegates),
  merge: () => import('./commands/work/merge.ts').then((module) => module.merge),
  export: () => import('./commands/more/export.ts').then((module) => module.exporting),
  import: () => import('./commands/more/import.ts').then((module) => module.importing),
  workflow: () => import('./commands/sessions/workflow.ts').then((module) => module.workflow),
  project: () => import('./commands/see/project.ts').then((module) => module.project),
  profiles: () => import('./commands/work/profiles.ts').then((module) => module.profiles),
  pack: () => import('./commands/see/pack.ts').then((module) => module.pack),
  serve: () => import('./commands/see/serve.ts').then((module) => module.serve),
  setup: () => import('./commands/start/setup.ts').then((module) => module.setup),
  mcp: () => import('./commands/start/mcp.ts').then((module) => module.mcp),
  digest: () => import('./commands/more/digest.ts').then((module) => module.digest),
  ledger: () => import('./commands/see/ledger.ts').then((module) => module.ledger),
  doctor: () => import('./commands/more/doctor.ts').then((module) => module.doctor),
  purge: () => import('./commands/more/purge.ts').then((module) => module.purge),
  simulate: () => import('./commands/more/simulate.ts').then((module) => module.simulate),
  rehearsal: () => import('./commands/more/rehearsal.ts').then((module) => module.rehearsal),
  hook: () => import('./commands/start/hook.ts').then((module) => module.hook),
  statusline: () => import('./commands/start/hook.ts').then((module) => module.statusline),
  completion: () => import('./commands/start/completion.ts').then((module) => module.completion),
} satisfies Record<string, () => Promise<Route>>

const DOCS = {
  brief: 'Durable sessions for coding agents',
  fullDescription:
    'Stint keeps what was done, decided and found, and gives it back after a compaction, a crash or a closed window.\nEvery command takes --help, and every command that answers something takes --json. Exit codes: 0 ok, 1 expected failure, 2 misuse, 70 defect.',
}

/** The command that the word names. If it names none, all of them: for the help, and to suggest what was meant. */
async function loadRoutes(word?: string): Promise<RouteMap<Context>> {
  const isCommand = word !== undefined && Object.hasOwn(COMMANDS, word)
  const names = (isCommand ? [word] : Object.keys(COMMANDS)) as (keyof typeof COMMANDS)[]
  const loaded = await Promise.all(
    names.map(async (name) => [name, await COMMANDS[name]()] as const),
  )
  return buildRouteMap<string, Context>({ routes: Object.fromEntries(loaded), docs: DOCS })
}

function application(routes: RouteMap<Context>, version: string): Application<Context> {
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
  routes: RouteMap<Context>,
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
  context: Context,
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
