import { basename } from 'node:path'
import {
  type Composed,
  DEFAULT_TOKENS,
  FEWEST_TOKENS,
  compose,
} from '../../command/digest/compose.ts'
import type { Reading } from '../../command/digest/read-output.ts'
import { StintError, errnoOf } from '../../journal/errors.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { withoutSecrets } from '../store/clean-draft.ts'
import type { Workspace } from '../store/workspace.ts'
import { artifactsFolder, idOf, noteRun, toldPath } from './artifacts.ts'
import { OutputKeeper } from './keep-output.ts'
import { recordRun } from './record-run.ts'
import { runCommand } from './run-command.ts'
import { defined } from '../../text/defined.ts'

export interface DigestOptions {
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[]
  readonly label?: string
  /** How many tokens the digest may have. */
  readonly tokens?: number
  /** Told of what the command prints as it comes, before anything is taken out of it. */
  readonly onOutput?: (lines: Buffer) => void
  readonly by?: string
}

export interface Digest extends Composed {
  readonly command: string
  readonly exitCode: number
  readonly signal?: string
  readonly seconds: number
  readonly lines: number
  readonly bytes: number
  readonly summary?: string
  readonly artifact?: { readonly id: string; readonly path: string }
  /** The session that has a record of it. */
  readonly recordedIn?: string
}

const LONGEST_COMMAND = 300
const LONGEST_SUMMARY = 160

/** Runs a command, keeps all it prints, and tells what matters of it. */
export async function digestCommand(workspace: Workspace, options: DigestOptions): Promise<Digest> {
  const { tokens = DEFAULT_TOKENS, by = 'library' } = options
  if (options.command.length === 0)
    throw new StintError('NO_COMMAND', 'there is no command to run', 'stint digest -- npm test')
  if (tokens < FEWEST_TOKENS) {
    throw new StintError(
      'TOO_FEW_TOKENS',
      `a digest needs at least ${FEWEST_TOKENS} tokens`,
      `--tokens ${FEWEST_TOKENS}`,
    )
  }
  const command = withoutSecrets(oneLine(options.command.map(quoted).join(' ')), workspace.config)
  const label =
    options.label === undefined
      ? undefined
      : withoutSecrets(oneLine(options.label), workspace.config)
  const folder = artifactsFolder(workspace)
  const keeper = new OutputKeeper(folder, workspace.config, workspace.cwd)
  const ran = await run(workspace, options, keeper)
  const { reading, bytes, path, problem, redacted } = keeper.finish()

  if (redacted.length > 0)
    workspace.say(`what looked like a secret was redacted (${redacted.join(', ')})`)
  if (ran.isStillWriting)
    workspace.say(
      'something that the command started is still running; what it prints from now on is not kept',
    )
  if (problem !== undefined) workspace.say(`the output could not be kept: ${problem}`)

  const { exitCode, signal, seconds } = ran
  const summary = summaryOf(reading)
  const artifact =
    path === undefined ? undefined : { id: idOf(path), path: toldPath(workspace, path) }
  const facts = {
    ...(label === undefined || label === '' ? {} : { label }),
    command: shorten(command, LONGEST_COMMAND),
    exit: exitCode,
    lines: reading.lines,
    ...defined({ summary }),
  }
  if (path !== undefined)
    noteIfPossible(workspace, () =>
      noteRun(folder, { at: new Date().toISOString(), ...facts, artifact: basename(path) }),
    )
  const ended = { ...facts, exitCode, ...defined({ signal }), seconds, bytes }
  const composedFor = (recorded: { recordedIn?: string }) =>
    compose(
      ended,
      reading,
      artifact === undefined ? undefined : { ...artifact, ...recorded },
      tokens,
    )
  const keptFor = (path: string) => (session: string) => {
    return {
      ...facts,
      artifact: path,
      bytes,
      shown: composedFor({ recordedIn: session }).text.length,
    }
  }
  const kept = artifact === undefined ? {} : { kept: keptFor(artifact.path) }
  const recordedIn = await recordRun(workspace, {
    command,
    exitCode,
    isStopped: signal !== undefined,
    reading,
    ...kept,
    by,
  })
  const recorded = recordedIn === undefined ? {} : { recordedIn }
  return {
    ...ended,
    ...defined({ artifact }),
    ...recorded,
    ...composedFor(recorded),
  }
}

async function run(
  workspace: Workspace,
  { command, onOutput }: DigestOptions,
  keeper: OutputKeeper,
) {
  try {
    return await runCommand(command, {
      cwd: workspace.cwd,
      env: workspace.env,
      onOutput: (lines) => {
        keeper.add(lines)
        onOutput?.(lines)
      },
    })
  } catch (error) {
    keeper.discard()
    throw error
  }
}

function summaryOf({ totals, findings }: Reading): string | undefined {
  const text =
    totals.tests?.text ??
    totals.others.at(-1) ??
    findings.find(({ level }) => level !== 'warning')?.title
  return text === undefined ? undefined : shorten(oneLine(text), LONGEST_SUMMARY)
}

/** The list only says of what run an output is; the output is kept without it. */
function noteIfPossible(workspace: Workspace, note: () => void): void {
  try {
    note()
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    workspace.say(`the list of outputs could not be written: ${(error as Error).message}`)
  }
}

/** A word as it would be typed into a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
