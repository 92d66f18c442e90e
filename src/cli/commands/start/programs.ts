// Commands that other programs start: hooks, the status line, the MCP server and shell completion.
import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { stintVersion, refreshViews, serveHook, statusLine } from '../../../core.ts'
import { StintError } from '../../../public/projection.ts'
import { defineCommand, defineCommandGroup } from '../../context/command.ts'
import { textFlag } from '../../context/flags.ts'

// A separate program serves hooks and the status line before the command line is loaded; these two exist for the help.

export const hook = defineCommand({
  brief: 'Serve one event of an agent program',
  about:
    'Reads the event from standard input, as agent programs give it to their hooks, and answers on standard output.\nNever blocks and never fails; STINT_HOOKS=off makes it do nothing. stint setup registers it.',
  json: false,
  async run({ context, output }) {
    const response = await serveHook(await context.readStdin(), context.env, refreshViews)
    if (response !== '') output.line(response)
  },
})

export const statusline = defineCommand({
  brief: 'Print the line under the prompt of an agent program',
  about:
    'Reads what the agent program tells its status line from standard input. stint setup registers it.',
  json: false,
  async run({ context, output }) {
    const now = new Date().toISOString()
    output.line(await statusLine(await context.readStdin(), context.env, now))
  },
})

export const mcp = defineCommand({
  brief: 'Serve the journal to an agent program over MCP',
  about:
    'Speaks the Model Context Protocol on standard input and output, until its input ends. An agent program starts it; stint setup claude and stint setup codex\ntell it how. It works in the folder that it is started in, or in the one that the program says it has open.',
  usage: [
    ['', 'in this folder'],
    ['--project ../other', 'in another one, whatever the program says'],
  ],
  flags: { project: textFlag('The folder to work in', 'DIR') },
  json: false,
  async run({ context: { cwd, env } }, { project }) {
    const { serveMcp } = await import('../../../mcp/serve-mcp.ts')
    const { checkFolder } = await import('../../../mcp/choose-folder.ts')
    const folder = project === undefined ? {} : { project: requireFolder(resolve(cwd, project)) }
    const startedIn = checkFolder(() => realpathSync(cwd))
    await serveMcp({ version: stintVersion(), env, startedIn, ...folder })
  },
})

function requireFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path
  throw new StintError(
    'NO_FOLDER',
    `${path} is not a folder`,
    'stint mcp --project DIR names the folder of a project',
  )
}

/** Each script asks the program for completions, so that it never gets outdated. */
const SCRIPTS = {
  bash: `_stint() {
  local IFS=$'\\n'
  COMPREPLY=($(stint __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _stint stint
`,
  zsh: `#compdef stint
_stint() {
  local -a found
  found=("\${(@f)$(stint __complete "\${words[@]:1:$((CURRENT-1))}" 2>/dev/null)}")
  compadd -a found
}
compdef _stint stint
`,
  fish: `function __stint_complete
  set -l words (commandline -opc) (commandline -ct)
  stint __complete $words[2..-1] 2>/dev/null
end
complete -c stint -f -a '(__stint_complete)'
`,
}

function completionCommand(shell: keyof typeof SCRIPTS, file: string) {
  return defineCommand({
    brief: `The script for ${shell}`,
    about: `Put this into ${file}:\n  eval "$(stint completion ${shell})"`,
    json: false,
    run: ({ output }) => output.line(SCRIPTS[shell]),
  })
}

export const completion = defineCommandGroup({
  brief: 'Shell completion: bash, zsh or fish',
  routes: {
    bash: completionCommand('bash', '~/.bashrc'),
    zsh: completionCommand('zsh', '~/.zshrc'),
    fish: completionCommand('fish', '~/.config/fish/config.fish'),
  },
})
