import type { Workspace } from '../../project/store/workspace.ts'
import { readStatus } from '../../backlog/task.ts'
import { readForeign } from './foreign.ts'
import { withStatusDone } from './mark-done.ts'
import { ownIdOf, parseJsonl, readJsonLine } from './parse-jsonl.ts'
import { refuse } from './problems.ts'
import type { BacklogSource } from './source.ts'
import { type SourceFile, notThere } from './source-file.ts'

/** Tasks of a file with one JSON object a line. */
export function jsonlSource(workspace: Workspace, file: SourceFile): BacklogSource {
  return {
    name: file.key,
    read: async () => {
      const { tasks, problems } = parseJsonl(file.read())
      refuse(file.key, problems)
      return readForeign(workspace, file.key, tasks)
    },
    settle: async (task, _summary, tree) =>
      file.edit(tree, (text) => {
        const marked = markDone(text, task.id.slice(file.key.length + 1))
        if (marked === undefined) workspace.say(notThere(file, task.shortname))
        return marked
      }),
  }
}

/** The file with one task done, or undefined when no single line is that task's. */
function markDone(text: string, own: string): string | undefined {
  const lines = text.split('\n')
  const found = lines.flatMap((line, index) => {
    const object = readJsonLine(line)
    return typeof object === 'object' && ownIdOf(object) === own ? [{ index, line, object }] : []
  })
  const [only, ...others] = found
  if (only === undefined || others.length > 0) return undefined
  if (readStatus(only.object['status']) === 'completed') return text
  return lines.with(only.index, withStatusDone(only.line)).join('\n')
}
