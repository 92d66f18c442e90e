import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { readForeign } from './foreign.ts'
import { parseChecklist } from './parse-checklist.ts'
import { refuse } from './problems.ts'
import type { BacklogSource } from './source.ts'
import { type SourceFile, notThere } from './source-file.ts'

/** Tasks of a Markdown file, one for each `- [ ] text`. */
export function checklistSource(workspace: Workspace, file: SourceFile): BacklogSource {
  const parse = (text: string) =>
    parseChecklist(text, (given) => withoutSecrets(given, workspace.config))
  return {
    name: file.key,
    read: async () => {
      const { items, problems } = parse(file.read())
      refuse(file.key, problems)
      if (items.length === 0)
        workspace.say(`${file.key} has no line of the form "- [ ] what is to be done"`)
      return readForeign(
        workspace,
        file.key,
        items.map(({ task }) => task),
      )
    },
    settle: async (task, _summary, tree) =>
      file.edit(tree, (text) => {
        const own = task.id.slice(file.key.length + 1)
        const [only, ...others] = parse(text).items.filter((item) => item.task.own === own)
        if (only !== undefined && others.length === 0) return ticked(text, only.line, only.box.at)
        workspace.say(notThere(file, task.shortname))
        return undefined
      }),
  }
}

function ticked(text: string, number: number, at: number): string {
  const lines = text.split('\n')
  const line = lines[number - 1]!
  // An x of either case stays as it was written.
  if (line[at] !== ' ') return text
  return lines.with(number - 1, `${line.slice(0, at)}x${line.slice(at + 1)}`).join('\n')
}
