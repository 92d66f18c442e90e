// Enough shell grammar to distinguish programs, arguments, quotes, heredocs and comments.
import { defined } from '../text/defined.ts'

type Operator = '&&' | '||' | ';' | '|' | '&'

export interface Redirection {
  /** `>`, `>>`, `<`, `&>` and so on, without the file descriptor. */
  readonly operator: string
  readonly target: string
  readonly written: string
}

export interface ShellCommand {
  /** Unquoted words, without redirections. */
  readonly words: readonly string[]
  readonly written: readonly string[]
  readonly before?: Operator
  readonly after?: Operator
  readonly redirections?: readonly Redirection[]
  /** The text of its here-document. */
  readonly heredoc?: string
  /** The subshells that it is in, outermost first; each has its own number. */
  readonly subshells?: readonly number[]
}

const MAX_LENGTH = 32_768
/** Each command has its own list, so thousands of brackets must not make it long. */
const MAX_SUBSHELLS = 16

/** The caller checks that `#` is at the start of a word. */
const TOKEN =
  /\\[^]?|'[^']*'?|"(?:\\[^]?|[^"\\])*"?|`(?:\\[^]?|[^`\\])*`?|[$<>]\(|\n|\s|#[^\n]*|(?:&(?=>))?(?:<<<|<<-?|>>|>\||[<>]&?)|;;?|\|[|&]?|&&?|[()]|[^]/y

const KEYWORDS = new Set('if then elif else while until do { } ! time fi done esac'.split(' '))

export function shellCommands(script: string): readonly ShellCommand[] {
  const source = script.slice(0, MAX_LENGTH)
  const commands: ShellCommand[] = []
  let words: string[] = []
  let writtenWords: string[] = []
  let word = ''
  let written = ''
  let isQuoted = false
  let before: Operator | undefined
  let expects: 'target' | 'delimiter' | undefined
  let operator = ''
  let redirections: Redirection[] = []
  const subshells: number[] = []
  let lastSubshell = 0
  let deeper = 0
  const delimiters: { readonly text: string; readonly command: number }[] = []
  let at = 0

  const take = (text: string, asWritten: string) => {
    word += text
    written += asWritten
  }
  const dropWord = () => {
    word = written = ''
    isQuoted = false
  }
  const endWord = () => {
    if (written === '') return
    const isKeyword = words.length === 0 && !isQuoted && KEYWORDS.has(word)
    if (expects === 'delimiter') delimiters.push({ text: word, command: commands.length })
    if (expects === 'target') redirections.push({ operator, target: word, written })
    if (expects === undefined && !isKeyword) {
      words.push(word)
      writtenWords.push(written)
    }
    expects = undefined
    dropWord()
  }
  const endCommand = (after: Operator | undefined) => {
    endWord()
    if (words.length > 0) {
      commands.push({
        words,
        written: writtenWords,
        ...defined({ before, after }),
        ...(redirections.length === 0 ? {} : { redirections }),
        ...(subshells.length === 0 ? {} : { subshells: [...subshells] }),
      })
      before = after
    }
    words = []
    writtenWords = []
    redirections = []
    expects = undefined
  }

  while (at < source.length) {
    TOKEN.lastIndex = at
    let token = TOKEN.exec(source)![0]
    const first = token[0]!
    if (/^[$<>]\($/.test(token)) {
      const end = closingParenthesis(source, at + token.length)
      token = source.slice(at, end)
      take(token, token)
    } else if (first === '#' && written !== '') {
      token = '#'
      take(token, token)
    } else if (first === '\\') {
      if (token !== '\\\n') take(token.slice(1), token)
    } else if (first === "'" || first === '"' || first === '`') {
      isQuoted = true
      take(unquoted(token), token)
    } else if (token === '\n') {
      endCommand(';')
      for (const { text, command } of delimiters.splice(0)) {
        const end = endOfHeredoc(source, at + 1, text)
        const owner = commands[command]
        if (owner !== undefined)
          commands[command] = { ...owner, heredoc: heredocText(source.slice(at + 1, end), text) }
        at = end - 1
      }
    } else if (/^\s$/.test(token)) endWord()
    else if (/^&?[<>]/.test(token)) {
      // The file descriptor in `2>`.
      if (/^\d+$/.test(written)) dropWord()
      else endWord()
      operator = token
      expects = /^<<-?$/.test(token) ? 'delimiter' : 'target'
    } else if (first === ';' || first === '|' || first === '&')
      endCommand((token === ';;' || token === '|&' ? first : token) as Operator)
    else if (first === '(' && words.length === 0) {
      endWord()
      lastSubshell += 1
      if (subshells.length < MAX_SUBSHELLS) subshells.push(lastSubshell)
      else deeper += 1
    } else if (first === '(' || first === ')') {
      endCommand(';')
      if (first === ')' && deeper > 0) deeper -= 1
      else if (first === ')') subshells.pop()
    } else if (first !== '#') take(token, token)
    at += token.length
  }
  endCommand(undefined)
  return commands
}

function unquoted(token: string) {
  const quote = token[0]!
  const isClosed = /^(?:'[^']*'|"(?:\\[^]|[^"\\])*"|`(?:\\[^]|[^`\\])*`)$/.test(token)
  const inside = token.slice(1, isClosed ? -1 : undefined)
  if (quote === "'") return inside
  const text = inside.replace(/\\(["\\$`\n])/g, (_, char: string) => (char === '\n' ? '' : char))
  return quote === '`' ? `\`${text}\`` : text
}

function closingParenthesis(source: string, from: number) {
  let depth = 1
  let end = from
  for (; end < source.length && depth > 0; end += 1) {
    if (source[end] === '(') depth += 1
    if (source[end] === ')') depth -= 1
  }
  return end
}

function endOfHeredoc(source: string, from: number, delimiter: string) {
  let at = from
  while (at < source.length) {
    const end = source.indexOf('\n', at)
    const line = source.slice(at, end === -1 ? undefined : end)
    at = end === -1 ? source.length : end + 1
    if (line.trim() === delimiter) break
  }
  return at
}

function heredocText(lines: string, delimiter: string) {
  const kept = lines.split('\n')
  const end = kept.findIndex((line) => line.trim() === delimiter)
  return (end === -1 ? kept : kept.slice(0, end)).join('\n')
}

export function quoteWord(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : singleQuoted(word)
}

export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
