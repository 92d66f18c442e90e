import { basename, join } from 'node:path'
import {
  type ComposedDigest,
  DIGEST_DEFAULT_TOKENS,
  DIGEST_MIN_TOKENS,
  composeDigest,
} from '../../command/digest/compose-digest.ts'
import { OutputReader, type OutputAnalysis } from '../../command/digest/output-reader.ts'
import { StintError, errnoOf, messageOf } from '../../journal/errors.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { redaction, withoutSecrets } from '../store/clean-draft.ts'
import type { Workspace } from '../store/workspace.ts'
import {
  artifactsFolder,
  artifactId,
  recordDigestedRun,
  prepareArtifacts,
  displayPath,
} from './artifacts.ts'
import { spawnCommand } from './spawn-command.ts'
import { defined } from '../../text/defined.ts'
import { failingTests } from '../../command/test-summary.ts'
import { type DetectedTestRun, detectTestRun } from '../../command/detect-test-run.ts'
import { type EntryDraft, draftEntry } from '../../session/entries.ts'
import { NoSession, chooseOpenSession } from '../store/choose-session.ts'
import { conversationFromEnv } from '../store/conversation-binding.ts'
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { PartialFile } from '../../journal/write-files.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import { type RedactOptions, redact } from '../../text/redact.ts'
import { SafeChunker } from '../../text/safe-chunker.ts'
import type { Config } from '../config/config.ts'

export interface DigestOptions {
  /** Program and arguments; no shell. */
  readonly command: readonly string[]
  readonly label?: string
  readonly tokens?: number
  /** Receives the raw output as it comes. */
  readonly onOutput?: (lines: Buffer) => void
  readonly by?: string
}

export interface Digest extends ComposedDigest {
  readonly command: string
  readonly exitCode: number
  readonly signal?: string
  readonly seconds: number
  readonly lines: number
  readonly bytes: number
  readonly summary?: string
  readonly artifact?: { readonly id: string; readonly path: string }
  readonly recordedIn?: string
}

const MAX_COMMAND = 300
const MAX_SUMMARY = 160

export async function digestCommand(workspace: Workspace, options: DigestOptions): Promise<Digest> {
  const { tokens = DIGEST_DEFAULT_TOKENS, by = 'library' } = options
  const { config } = workspace
  if (options.command.length === 0)
    throw new StintError('NO_COMMAND', 'there is no command to run', 'stint digest -- npm test')
  if (tokens < DIGEST_MIN_TOKENS)
    throw new StintError(
      'TOO_FEW_TOKENS',
      `a digest needs at least ${DIGEST_MIN_TOKENS} tokens`,
      `--tokens ${DIGEST_MIN_TOKENS}`,
    )
  const command = withoutSecrets(oneLine(options.command.map(quoted).join(' ')), config)
  const label = withoutSecrets(oneLine(options.label ?? ''), config) || undefined
  const folder = artifactsFolder(workspace)
  const recorder = new OutputRecorder(folder, config, workspace.cwd)
  const { exitCode, signal, seconds, isStillWriting } = await runWithRecorder(
    workspace,
    options,
    recorder,
  )
  const { reading, bytes, path, problem, redacted } = recorder.finish()

  if (redacted.length > 0)
    workspace.say(`what looked like a secret was redacted (${redacted.join(', ')})`)
  if (isStillWriting)
    workspace.say(
      'something that the command started is still running; what it prints from now on is not kept',
    )
  if (problem !== undefined) workspace.say(`the output could not be kept: ${problem}`)

  const facts = {
    ...defined({ label }),
    command: shorten(command, MAX_COMMAND),
    exit: exitCode,
    lines: reading.lines,
    ...defined({ summary: summaryOf(reading) }),
  }
  const result = { ...facts, exitCode, ...defined({ signal }), seconds, bytes }
  const artifact =
    path === undefined ? undefined : { id: artifactId(path), path: displayPath(workspace, path) }
  const composeFor = (recordedIn: string | undefined) =>
    composeDigest(result, reading, artifact && { ...artifact, ...defined({ recordedIn }) }, tokens)
  if (path !== undefined)
    try {
      recordDigestedRun(folder, {
        at: new Date().toISOString(),
        ...facts,
        artifact: basename(path),
      })
    } catch (error) {
      // The output is stored even without the list.
      if (errnoOf(error) === undefined) throw error
      workspace.say(`the list of outputs could not be written: ${messageOf(error)}`)
    }
  const tests = signal === undefined ? testResult(command, exitCode, reading) : undefined
  const { failures: _failures, ...recorded } = tests ?? { command, passed: false }
  const recordedIn = await recordRun(workspace, (session) => {
    const conversation = conversationFromEnv(workspace.env)
    const shown = composeFor(session).text.length
    return [
      ...(artifact === undefined
        ? []
        : [draftEntry('output.kept', { ...facts, artifact: artifact.path, bytes, shown }, { by })]),
      ...(tests === undefined
        ? []
        : [draftEntry('test.ran', { ...recorded, ...defined({ conversation }) }, { by })]),
    ]
  })
  return { ...result, ...defined({ artifact, recordedIn }), ...composeFor(recordedIn) }
}

async function runWithRecorder(
  { cwd, env }: Workspace,
  { command, onOutput }: DigestOptions,
  recorder: OutputRecorder,
) {
  try {
    return await spawnCommand(command, {
      cwd,
      env,
      onOutput: (lines) => {
        recorder.add(lines)
        onOutput?.(lines)
      },
    })
  } catch (error) {
    recorder.discard()
    throw error
  }
}

function summaryOf({ totals, findings }: OutputAnalysis) {
  const text =
    totals.tests?.text ??
    totals.others.at(-1) ??
    findings.find(({ level }) => level !== 'warning')?.title
  return text === undefined ? undefined : shorten(oneLine(text), MAX_SUMMARY)
}

function quoted(word: string) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

const MAX_RECORDED = 160
const MAX_NAMES = 3

/** Returns the session's name, if one is active. */
async function recordRun(
  workspace: Workspace,
  draftsFor: (session: string) => readonly EntryDraft[],
) {
  try {
    const { id, name } = await chooseOpenSession(workspace)
    const drafts = draftsFor(name)
    if (drafts.length === 0) return undefined
    await workspace.append(id, drafts)
    return name
  } catch (error) {
    // The digest is shown even if it cannot be recorded.
    if (!(error instanceof NoSession)) workspace.say(`the run is not recorded: ${messageOf(error)}`)
    return undefined
  }
}

/** Recognised by its command, as hooks do, or by its output. */
function testResult(
  command: string,
  exitCode: number,
  { totals: { tests }, tail, findings }: OutputAnalysis,
): DetectedTestRun | undefined {
  const lines = tail.map(({ text }) => text)
  const known = detectTestRun(command, lines.join('\n'), exitCode !== 0)
  if (known !== undefined && (tests === undefined || known.summary !== undefined)) return known
  if (tests === undefined || !/\d/.test(tests.text)) return known
  const titles = findings.filter(({ level }) => level === 'failure').map(({ title }) => title)
  const names = titles.length > 0 ? titles : failingTests(lines, MAX_NAMES)
  const passed = exitCode === 0 && !tests.isFailed
  const summary =
    passed || names.length === 0
      ? tests.text
      : `${tests.text}: ${names.slice(0, MAX_NAMES).join('; ')}`
  return {
    command: shorten(command, MAX_RECORDED),
    passed,
    summary: shorten(summary, 2 * MAX_RECORDED),
  }
}

type Encoding = 'utf8' | 'latin1'

interface StoredOutput {
  readonly reading: OutputAnalysis
  readonly bytes: number
  readonly path?: string
  readonly problem?: string
  readonly redacted: readonly string[]
}

/** Holds a part of the output, never all. Equal outputs share a file, which is named by content. */
class OutputRecorder {
  readonly #folder: string
  readonly #options: RedactOptions
  readonly #redacted = new Set<string>()
  readonly #reader: OutputReader
  readonly #hash = createHash('sha256')
  readonly #cuts: SafeChunker
  #encoding: Encoding = 'utf8'
  #bytes = 0
  #file: PartialFile | undefined
  #problem: string | undefined

  constructor(folder: string, config: Config, base: string) {
    this.#folder = folder
    this.#reader = new OutputReader(base)
    this.#options = redaction(config)
    this.#cuts = new SafeChunker((text) => redact(text, this.#options).text)
    this.#attempt(() => {
      prepareArtifacts(folder)
      this.#file = new PartialFile(folder)
    })
  }

  add(bytes: Buffer): void {
    // Bytes that are not text round-trip as latin1.
    const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
    if (encoding !== this.#encoding) this.#write(this.#cuts.flush())
    this.#encoding = encoding
    this.#write(this.#cuts.push(bytes.toString(encoding)))
  }

  discard(): void {
    this.#file?.discard()
    this.#file = undefined
  }

  finish(): StoredOutput {
    this.#write(this.#cuts.flush())
    const reading = this.#reader.finish()
    const path = this.#commit()
    return {
      reading,
      bytes: this.#bytes,
      redacted: [...this.#redacted],
      ...defined({ path, problem: this.#problem }),
    }
  }

  #write(raw: string) {
    if (raw === '') return
    const { text, found } = redact(raw, this.#options)
    for (const kind of found) this.#redacted.add(kind)
    const bytes = Buffer.from(text, this.#encoding)
    this.#bytes += bytes.length
    this.#hash.update(bytes)
    this.#reader.add(text)
    this.#attempt(() => this.#file?.write(bytes))
  }

  #commit() {
    const name = this.#hash.digest('hex').slice(0, 16)
    let path: string | undefined
    this.#attempt(() => {
      const file = this.#file
      this.#file = undefined
      if (file === undefined) return
      path = unusedPath(this.#folder, name, this.#bytes)
      file.commitAs(path)
    })
    return this.#problem === undefined ? path : undefined
  }

  /** A full disk must not stop the command. */
  #attempt(work: () => void) {
    if (this.#problem !== undefined) return
    try {
      work()
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      this.#problem = (error as Error).message
      this.#file?.discard()
      this.#file = undefined
    }
  }
}

/** A file of that name with another size was changed later, for example by a purge. */
function unusedPath(folder: string, name: string, bytes: number) {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${name}${number === 1 ? '' : `-${number}`}.txt`)
    const known = statOrUndefined(path)
    if (known === undefined || known.size === bytes) return path
  }
}
