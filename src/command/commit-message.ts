import { shorten } from '../text/clean.ts'
import { defined } from '../text/defined.ts'
import { oneLineOf } from './failure-detail.ts'
import { isLiteral } from './harmless-commands.ts'
import type { ShellCommand } from './shell-commands.ts'
import { programOf, unwrapCommands } from './unwrap-command.ts'
import { withholdInstructions } from './withhold-instructions.ts'

export interface CommitMessage {
  readonly subject: string
  readonly body?: string
  readonly isAmend?: true
  /** Set if all that the commit did, as git printed it, was to create these files. */
  readonly created?: readonly string[]
}

const MAX_SUBJECT_LENGTH = 200
const MAX_BODY_LENGTH = 400
const MAX_CREATED = 8

/** The message of the last commit that the command makes. */
export function commitMessageFrom(command: string, output: string): CommitMessage | undefined {
  return commitMessagesFrom(command, output).at(-1)
}

export function commitMessagesFrom(command: string, output: string): readonly CommitMessage[] {
  if (!/\bcommit\b/.test(command)) return []
  const commits = unwrapCommands(command).filter(isCommit)
  const printed = printedCommits(output)
  // git prints nothing for `-q`, so the two lists match only from the end.
  return commits.flatMap((each, index) => {
    const isQuiet = each.words.some((word) => /^(?:--quiet|-[a-z]*q[a-z]*)$/.test(word))
    const loud = isQuiet ? undefined : printed.at(index - commits.length)
    const message =
      messageIn(each, command) ?? (loud && { subject: withholdInstructions(loud.subject) })
    if (message === undefined || message.subject === '') return []
    const isAmend = each.words.includes('--amend') || undefined
    const created =
      loud !== undefined && loud.subject === message.subject ? loud.created : undefined
    return [{ ...message, ...defined({ isAmend, created }) }]
  })
}

function isCommit({ words }: ShellCommand) {
  if (programOf(words) !== 'git' || words.includes('--dry-run')) return false
  let at = 1
  while (words[at]?.startsWith('-') === true) at += /^-[cC]$/.test(words[at]!) ? 2 : 1
  return words[at] === 'commit'
}

function messageIn(command: ShellCommand, source: string) {
  const { words, written, heredoc } = command
  const parts: string[] = []
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at]!
    const next = words[at + 1]
    if (/^-[a-zA-Z]*m$|^--message$/.test(word) && next !== undefined) {
      at += 1
      const text = messageWord(next, written[at] ?? '', source)
      if (text === undefined) return undefined
      parts.push(text)
    } else if (word.startsWith('--message=')) parts.push(word.slice('--message='.length))
    else if (/^-m./.test(word)) parts.push(word.slice(2))
    else if ((/^-[a-z]*F$|^--file$/.test(word) && next === '-') || /^--file=-$|^-F-$/.test(word))
      if (heredoc !== undefined) parts.push(heredoc)
  }
  return parts.length === 0 ? undefined : split(parts.join('\n\n'))
}

/** Agents write a long message as `-m "$(cat <<'EOF' … EOF)"`. */
function messageWord(word: string, written: string, source: string) {
  if (isLiteral(written)) return word
  if (!/^"?\$\(\s*cat\s/.test(written)) return /\$\(|`/.test(word) ? undefined : word
  const [, , delimiter, rest] =
    /\$\(\s*cat\s+<<-?\s*(['"]?)(\w+)\1[^\n]*\n([^]*)$/.exec(source) ?? []
  if (delimiter === undefined || rest === undefined) return undefined
  const lines = rest.split('\n')
  const end = lines.findIndex((line) => line.trim() === delimiter)
  return end === -1 ? undefined : lines.slice(0, end).join('\n')
}

const TRAILER = /^(?:Co-authored-by|Signed-off-by|Reviewed-by|Change-Id|🤖 Generated with)\b/i

function split(message: string): CommitMessage {
  const lines = message.trim().split('\n')
  const blank = lines.findIndex((line) => line.trim() === '')
  const subject = lines.slice(0, blank === -1 ? undefined : blank).join(' ')
  const rest = blank === -1 ? [] : lines.slice(blank)
  const body = oneLineOf(rest.filter((line) => !TRAILER.test(line.trim())).join(' '))
  return {
    subject: shorten(oneLineOf(subject), MAX_SUBJECT_LENGTH),
    ...(body === '' ? {} : { body: shorten(body, MAX_BODY_LENGTH) }),
  }
}

/** `[main fdaff7c] Subject`, the counts, and the files it created. */
function printedCommits(output: string) {
  const commits: { subject: string; changed: number; created: string[] }[] = []
  for (const line of output.split('\n', 400)) {
    const subject = /^\[[^\]]{1,120} [0-9a-f]{7,40}\] (\S.{0,300})$/.exec(line)?.[1]
    if (subject !== undefined)
      commits.push({
        subject: shorten(oneLineOf(subject), MAX_SUBJECT_LENGTH),
        changed: 0,
        created: [],
      })
    const current = commits.at(-1)
    if (current === undefined) continue
    const changed = /^ (\d+) files? changed/.exec(line)?.[1]
    if (changed !== undefined) current.changed = Number(changed)
    const path = /^ create mode \d+ (\S+)$/.exec(line)?.[1]
    if (path !== undefined) current.created.push(path)
  }
  return commits.map(({ subject, changed, created }) => ({
    subject,
    created:
      created.length > 0 && created.length === changed && changed <= MAX_CREATED
        ? created
        : undefined,
  }))
}
