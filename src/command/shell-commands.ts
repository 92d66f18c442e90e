// Which programs a shell command runs. Enough of the shell's grammar to tell a program from an argument, a quotation,
// a here-document or a comment; what it cannot follow gives words that name no program anybody looks for.
import { defined } from '../text/defined.ts'

/** What stands between two commands. */
export type Operator = '&&' | '||' | ';' | '|' | '&'

export interface ShellCommand {
  /** The words without their quotes, redirections left out. */
  readonly words: readonly string[]
  /** The same words as they were written. */
  readonly written: readonly string[]
  /** What stands before it and behind it; nothing at either end. */
  readonly before?: Operator
  readonly after?: Operator
}

const LONGEST = 32_768

/** The commands that a line or a script is made of, in order. */
export function shellCommands(source: string): readonly ShellCommand[] {
  return new Splitter(source.slice(0, LONGEST)).split()
}

class Splitter {
  readonly #source: string
  #at = 0
  #word = ''
  #written = ''
  #isQuoted = false
  #words: string[] = []
  #writtenWords: string[] = []
  #before: Operator | undefined
  /** The next word is where output goes, or what a here-document ends with. */
  #expects: 'target' | 'delimiter' | undefined
  #delimiters: string[] = []
  readonly #commands: ShellCommand[] = []

  constructor(source: string) {
    this.#source = source
  }

  split(): readonly ShellCommand[] {
    while (this.#at < this.#source.length) this.#step()
    this.#endCommand(undefined)
    return this.#commands
  }

  #step(): void {
    const char = this.#source[this.#at]!
    if (char === '\\') return this.#takeEscaped()
    if (char === "'") return this.#takeQuoted("'")
    if (char === '"' || char === '`') return this.#takeQuoted(char)
    if (char === '$' && this.#source[this.#at + 1] === '(') return this.#takeParentheses(2)
    if (char === '\n') return this.#endLine()
    if (/\s/.test(char)) return this.#skipSpace()
    if (char === '#' && this.#written === '') return this.#skipComment()
    if (char === '<' || char === '>') return this.#redirect()
    if (char === ';' || char === '|' || char === '&') return this.#operate(char)
    if (char === '(' || char === ')') return this.#bracket(char)
    this.#take(char, char)
  }

  #take(word: string, written: string): void {
    this.#word += word
    this.#written += written
    this.#at += written.length
  }

  #takeEscaped(): void {
    const next = this.#source[this.#at + 1] ?? ''
    // A line that goes on in the next one.
    if (next === '\n') this.#at += 2
    else this.#take(next, `\\${next}`)
  }

  #takeQuoted(quote: string): void {
    let end = this.#at + 1
    let word = ''
    while (end < this.#source.length && this.#source[end] !== quote) {
      const isEscaped =
        quote !== "'" && this.#source[end] === '\\' && /["\\$`\n]/.test(this.#source[end + 1] ?? '')
      if (isEscaped) end += 1
      // A line that goes on in the next one.
      if (!isEscaped || this.#source[end] !== '\n') word += this.#source[end] ?? ''
      end += 1
    }
    this.#isQuoted = true
    this.#take(quote === '`' ? `\`${word}\`` : word, this.#source.slice(this.#at, end + 1))
  }

  /** Something in brackets that belongs to a word: what another command prints. */
  #takeParentheses(opening: number): void {
    let depth = 1
    let end = this.#at + opening
    for (; end < this.#source.length && depth > 0; end += 1) {
      if (this.#source[end] === '(') depth += 1
      if (this.#source[end] === ')') depth -= 1
    }
    const written = this.#source.slice(this.#at, end)
    this.#take(written, written)
  }

  #skipSpace(): void {
    this.#endWord()
    this.#at += 1
  }

  #skipComment(): void {
    const end = this.#source.indexOf('\n', this.#at)
    this.#at = end === -1 ? this.#source.length : end
  }

  #endLine(): void {
    this.#at += 1
    this.#endCommand(';')
    for (const delimiter of this.#delimiters.splice(0)) this.#skipHereDocument(delimiter)
  }

  #skipHereDocument(delimiter: string): void {
    while (this.#at < this.#source.length) {
      const end = this.#source.indexOf('\n', this.#at)
      const line = this.#source.slice(this.#at, end === -1 ? this.#source.length : end)
      this.#at = end === -1 ? this.#source.length : end + 1
      if (line.trim() === delimiter) return
    }
  }

  #redirect(): void {
    if (this.#source[this.#at + 1] === '(') return this.#takeParentheses(2)
    // The number of a stream: `2>`.
    if (/^\d+$/.test(this.#written)) this.#dropWord()
    else this.#endWord()
    const operator = /^(?:<<<|<<-?|>>|>\||[<>]&?)/.exec(
      this.#source.slice(this.#at, this.#at + 3),
    )![0]
    this.#at += operator.length
    this.#expects = operator === '<<' || operator === '<<-' ? 'delimiter' : 'target'
  }

  #operate(char: string): void {
    const next = this.#source[this.#at + 1]
    if (char === '&' && next === '>') {
      this.#at += 1
      return this.#redirect()
    }
    const isDouble = next === char
    this.#at += isDouble || (char === '|' && next === '&') ? 2 : 1
    const operator = isDouble && char !== ';' ? `${char}${char}` : char
    this.#endCommand(operator as Operator)
  }

  #bracket(char: string): void {
    this.#at += 1
    // A subshell is a list of commands like any other.
    if (char === '(' && this.#words.length === 0) this.#endWord()
    else this.#endCommand(';')
  }

  #dropWord(): void {
    this.#word = ''
    this.#written = ''
    this.#isQuoted = false
  }

  #endWord(): void {
    if (this.#written === '') return
    if (this.#expects === 'delimiter') this.#delimiters.push(this.#word)
    if (this.#expects === undefined && !this.#isKeyword()) {
      this.#words.push(this.#word)
      this.#writtenWords.push(this.#written)
    }
    this.#expects = undefined
    this.#dropWord()
  }

  #isKeyword(): boolean {
    return this.#words.length === 0 && !this.#isQuoted && KEYWORDS.has(this.#word)
  }

  #endCommand(operator: Operator | undefined): void {
    this.#endWord()
    if (this.#words.length > 0) {
      this.#commands.push({
        words: this.#words,
        written: this.#writtenWords,
        ...defined({ before: this.#before, after: operator }),
      })
      this.#before = operator
    }
    this.#words = []
    this.#writtenWords = []
    this.#expects = undefined
  }
}

// Words of the shell's own that a command may follow.
const KEYWORDS = new Set([
  'if',
  'then',
  'elif',
  'else',
  'while',
  'until',
  'do',
  '{',
  '}',
  '!',
  'time',
  'fi',
  'done',
  'esac',
])
