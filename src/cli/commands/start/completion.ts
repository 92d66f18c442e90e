import { buildCommand, buildRouteMap } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { Output } from '../../context/output.ts'

/** Every script asks the program itself what could come next, so that it never falls behind. */
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
} as const

function script(shell: keyof typeof SCRIPTS, where: string) {
  return buildCommand<Record<never, never>, [], Context>({
    docs: {
      brief: `The script for ${shell}`,
      fullDescription: `Put this into ${where}:\n  eval "$(stint completion ${shell})"`,
    },
    parameters: {},
    func() {
      new Output(this).line(SCRIPTS[shell])
    },
  })
}

export const completion = buildRouteMap<keyof typeof SCRIPTS, Context>({
  routes: {
    bash: script('bash', '~/.bashrc'),
    zsh: script('zsh', '~/.zshrc'),
    fish: script('fish', '~/.config/fish/config.fish'),
  },
  docs: { brief: 'Shell completion: bash, zsh or fish' },
})
