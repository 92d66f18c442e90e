import {
  type Application,
  type CommandContext,
  buildApplication,
  buildRouteMap,
  generateHelpTextForAllCommands,
  proposeCompletions,
  run,
  text_en,
} from '@stricli/core'
import { budget } from './commands/budget.ts'
import { checkpoint } from './commands/checkpoint.ts'
import { completion } from './commands/completion.ts'
import { delegate } from './commands/delegate.ts'
import { delegates } from './commands/delegates.ts'
import { digest } from './commands/digest.ts'
import { doctor } from './commands/doctor.ts'
import { close, pause, reopen } from './commands/finish.ts'
import { exporting } from './commands/export.ts'
import { handoff } from './commands/handoff.ts'
import { history } from './commands/history.ts'
import { hook, statusline } from './commands/hook.ts'
import { importing } from './commands/import.ts'
import { init } from './commands/init.ts'
import { ledger } from './commands/ledger.ts'
import { list } from './commands/list.ts'
import { log } from './commands/log.ts'
import { mcp } from './commands/mcp.ts'
import { merge } from './commands/merge.ts'
import { pack } from './commands/pack.ts'
import { plan } from './commands/plan.ts'
import { profiles } from './commands/profiles.ts'
import { project } from './commands/project.ts'
import { prompt } from './commands/prompt.ts'
import { purge } from './commands/purge.ts'
import { rehearsal } from './commands/rehearsal.ts'
import { resume } from './commands/resume.ts'
import { run as runBacklog } from './commands/run.ts'
import { runs } from './commands/runs.ts'
import { search } from './commands/search.ts'
import { serve } from './commands/serve.ts'
import { setup } from './commands/setup.ts'
import { simulate } from './commands/simulate.ts'
import { task } from './commands/task.ts'
import { view } from './commands/view.ts'
import { workflow } from './commands/workflow.ts'
import type { Context } from './context.ts'
import { EXIT, describeError, exitCodeFor } from './errors.ts'
import { runSlash } from './slash.ts'

const routes = buildRouteMap({
  routes: {
    init,
    resume,
    log,
    checkpoint,
    handoff,
    view,
    pause,
    close,
    reopen,
    list,
    search,
    history,
    budget,
    task,
    prompt,
    run: runBacklog,
    runs,
    plan,
    delegate,
    delegates,
    merge,
    export: exporting,
    import: importing,
    workflow,
    project,
    profiles,
    pack,
    serve,
    setup,
    mcp,
    digest,
    ledger,
    doctor,
    purge,
    simulate,
    rehearsal,
    hook,
    statusline,
    completion,
  },
  docs: {
    brief: 'Durable sessions for coding agents',
    fullDescription:
      'Stint keeps what was done, decided and found, and gives it back after a compaction, a crash or a closed window.\nEvery command takes --help, and every command that answers something takes --json. Exit codes: 0 ok, 1 expected failure, 2 misuse, 70 defect.',
  },
})

function application(version: string): Application<Context> {
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
export function helpForAllCommands(): string {
  const commands = generateHelpTextForAllCommands(
    application('0.0.0') as unknown as Application<CommandContext>,
  )
  const parts = commands.map(
    ([name, text]) => `## ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`,
  )
  return `# Every command and flag\n\n${parts.join('\n')}`
}

/** Of a command that also does something without a subcommand the parser proposes nothing but what goes with that. */
function subcommands([command = '', partial, ...more]: readonly string[]): readonly string[] {
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
  const app = application(version)
  if (args[0] === '__complete') {
    const words = args.slice(1)
    const proposals = await proposeCompletions(app, words, context)
    const names = [...subcommands(words), ...proposals.map((proposal) => proposal.completion)]
    for (const name of names) context.process.stdout.write(`${name}\n`)
    return EXIT.ok
  }
  if (args[0] === 'slash')
    return runSlash(args.slice(1), context, (words, inner) => runCommandLine(words, inner, version))
  await run(app, args[0] === 'help' ? [...args.slice(1), '--help'] : args, context)
  const code = context.process.exitCode
  // The parser counts its own refusals downwards from zero: an unknown command or argument is misuse, the rest a defect.
  if (typeof code !== 'number' || code >= 0) return typeof code === 'number' ? code : EXIT.ok
  return code === -4 || code === -5 ? EXIT.misuse : EXIT.defect
}
