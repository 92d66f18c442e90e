import { dirname, join, relative } from 'node:path'
import { createFile, createFolder, removeFile } from '../../journal/files.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { shortId } from '../../journal/ids.ts'
import { second } from '../../text/times.ts'
import {
  closingOf,
  renderWorkflowLog,
  workflowLogMark,
} from '../../document/export/workflow-log.ts'
import type { WorkSource } from '../../document/export/work.ts'
import { type Reading, nameForFiles } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { workSourceOf } from './source.ts'
import { exportTarget, isInProject, projectFolder } from './target.ts'
import { exportsWritten, isExport, noteExport, sumOf } from './written.ts'

/** The session is closed already: problems here are only reported. */
export async function afterClose(workspace: Workspace, reading: Reading): Promise<void> {
  await attempt(workspace, 'the workflow log could not be written', () =>
    writeWorkflowLog(workspace, reading),
  )
  await attempt(workspace, 'session.json could not be removed', () =>
    removeSessionJson(workspace, reading.state.id),
  )
}

async function attempt(
  workspace: Workspace,
  what: string,
  work: () => void | Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    workspace.say(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Once per closing, and over nothing. */
async function writeWorkflowLog(workspace: Workspace, reading: Reading): Promise<void> {
  const folder = workspace.config.workflowLog
  if (folder === undefined) return
  const source = await workSourceOf(workspace, reading)
  const text = renderWorkflowLog(source)
  const mark = workflowLogMark(source)
  for (const name of namesFor(source)) {
    const path = exportTarget(workspace, join(projectFolder(workspace), folder, name))
    if (!isInProject(workspace, path)) throw new Error(`${folder} leads out of the project`)
    createFolder(dirname(path))
    noteExport(workspace, {
      path,
      session: reading.state.id,
      format: 'workflow-log',
      sum: sumOf(Buffer.from(text)),
    })
    const isWritten = createFile(path, text)
    if (isWritten) workspace.say(`the workflow log is ${relative(workspace.cwd, path)}`)
    // Another command wrote it at the same moment.
    if (isWritten || readOrUndefined(path)?.toString('utf8').includes(mark) === true) return
  }
  throw new Error(`files of its name stand in ${folder} already`)
}

function namesFor({ state, entries }: WorkSource): readonly string[] {
  const closing = closingOf(entries)
  const [date = '', time = ''] = second(closing?.at ?? state.updatedAt).split('T')
  const stem = `${date}_${time.replaceAll(/\D/g, '')}_${nameForFiles(state)}`
  return [`${stem}.md`, `${stem}-${shortId(closing?.id ?? state.id)}.md`]
}

/** It goes with the session's end, unless it was edited. */
function removeSessionJson(workspace: Workspace, session: string): void {
  const mine = exportsWritten(workspace).filter(
    (known) => known.format === 'session-json' && known.session === session,
  )
  for (const path of new Set(mine.map((known) => known.path))) {
    const bytes = readOrUndefined(path)
    if (bytes === undefined) continue
    const name = relative(workspace.cwd, path)
    if (!isExport(workspace, path, bytes))
      workspace.say(`${name} was changed since it was exported, and is left as it is`)
    else if (removeFile(path)) workspace.say(`${name} was removed with the session's end`)
  }
}
