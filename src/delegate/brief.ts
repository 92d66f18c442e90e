import type { Workspace } from '../project/workspace.ts'
import type { Task } from '../tasks/task.ts'

export async function briefFor(
  _workspace: Workspace,
  { what, name }: { what: string; name: string; files: readonly string[]; isReadOnly: boolean; as?: string; output?: string; task?: Task },
  _parent: string | undefined,
): Promise<{ brief: string; file: string }> {
  return { brief: '', file: `# Background Task: ${name}\n\n## Task\n${what}\n` }
}
