import type { Reading } from '../../command/digest/read-output.ts'
import { failingTests } from '../../command/failing-tests.ts'
import { testRunOf } from '../../command/test-runs.ts'
import { StintError } from '../../journal/errors.ts'
import { type Draft, type EntryData, draft } from '../../session/entries.ts'
import { shorten } from '../../text/clean.ts'
import { NoSession, chooseSession, refuseClosed } from '../store/choose.ts'
import { conversationOf } from '../store/conversation-binding.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'

const LONGEST_COMMAND = 160
const NAMES = 3

/** A run as its session is told of it. */
export interface Ran {
  readonly command: string
  readonly exitCode: number
  /** It was stopped, so that nothing can be said about its tests. */
  readonly isStopped: boolean
  readonly reading: Reading
  /** The output that is kept, as it is told to a session of this name. */
  readonly kept?: (session: string) => EntryData['output.kept']
  readonly by: string
}

/** Journals a run with the session that is worked on here. Answers its name, or nothing when there is none to tell. */
export async function recordRun(workspace: Workspace, ran: Ran): Promise<string | undefined> {
  try {
    const row = await chooseSession(workspace)
    refuseClosed(row)
    const drafts = draftsFor(workspace, ran, row.name)
    if (drafts.length === 0) return undefined
    const session = workspace.session(row.id)
    session.append(drafts)
    await workspace.refreshIfPossible(session)
    session.close()
    return row.name
  } catch (error) {
    if (error instanceof NoSession) return undefined
    // The command has run and is not run again: whatever keeps it from being recorded, its digest is shown.
    workspace.say(
      `the run is not recorded: ${error instanceof StintError || error instanceof Error ? error.message : String(error)}`,
    )
    return undefined
  }
}

function draftsFor(
  workspace: Workspace,
  { kept, by, ...ran }: Ran,
  session: string,
): readonly Draft[] {
  const tests = testsOf(ran)
  const conversation = conversationOf(workspace.env)
  return [
    ...(kept === undefined ? [] : [draft('output.kept', kept(session), { by }) as Draft]),
    ...(tests === undefined
      ? []
      : [draft('test.ran', { ...tests, ...defined({ conversation }) }, { by }) as Draft]),
  ]
}

/** The run of tests that it was: by its command, as hooks tell, or by what it printed. */
function testsOf({
  command,
  exitCode,
  isStopped,
  reading,
}: Omit<Ran, 'kept' | 'by'>): EntryData['test.ran'] | undefined {
  if (isStopped) return undefined
  const { tests } = reading.totals
  const lines = reading.tail.map(({ text }) => text)
  const known = testRunOf(command, lines.join('\n'), exitCode !== 0)
  if (known !== undefined && (tests === undefined || known.summary !== undefined)) return known
  if (tests === undefined || !/\d/.test(tests.text)) return known
  const named = reading.findings
    .filter(({ level }) => level === 'failure')
    .map(({ title }) => title)
  const names = named.length > 0 ? named : failingTests(lines, NAMES)
  const passed = exitCode === 0 && !tests.isFailed
  const summary =
    passed || names.length === 0 ? tests.text : `${tests.text}: ${names.slice(0, NAMES).join('; ')}`
  return {
    command: shorten(command, LONGEST_COMMAND),
    passed,
    summary: shorten(summary, 2 * LONGEST_COMMAND),
  }
}
