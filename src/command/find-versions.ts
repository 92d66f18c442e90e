import { basename, dirname } from 'node:path'
import { shorten } from '../text/clean.ts'
import { oneLineOf } from './failure-detail.ts'
import type { ShellCommand } from './shell-commands.ts'
import { programOf } from './unwrap-command.ts'
import { readsLikeInstruction } from './withhold-instructions.ts'

export interface FoundVersion {
  readonly subject: string
  readonly version: string
  /** `npm version minor` names no package: it is the one that had the version before. */
  readonly bump?: 'patch' | 'minor' | 'major'
}

const MAX_VERSIONS = 8
const MAX_LINES = 40
const MAX_SUBJECT_LENGTH = 60

/**
 * Versions in the output of a command that asks for them. A longer output is an explanation or a
 * document, where a version is an example.
 */
export function findVersions(
  commands: readonly ShellCommand[],
  lines: readonly string[],
): readonly FoundVersion[] {
  const printed = lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !NOISE.test(line))
  const asked = commands.flatMap((command) => readerFor(command) ?? [])
  const [first] = asked
  if (printed.length === 0 || printed.length > MAX_LINES || first === undefined) return []
  // With several questions, each line answers one of them, in order.
  const answers =
    asked.length > 1 && asked.length === printed.length
      ? printed.flatMap((line, index) => asked[index]!([line]))
      : asked.length === 1 || new Set(asked).size === 1
        ? first(printed)
        : []
  const found = new Map<string, FoundVersion>()
  for (const { subject, version, ...more } of answers) {
    const name = shorten(oneLineOf(subject).replace(/[:=,(]+$/, ''), MAX_SUBJECT_LENGTH)
    if (name === '' || version === '' || readsLikeInstruction(name)) continue
    found.set(name.toLowerCase(), { subject: name, version, ...more })
    if (found.size === MAX_VERSIONS) break
  }
  return [...found.values()]
}

type Reader = (lines: readonly string[]) => readonly FoundVersion[]

const NOISE = /^(?:npm (?:warn|notice)|warning[: ]|Exit code \d+$|> \S+@\S+ \S+$|> )/i
const SUFFIX = String.raw`(?:[-+.]?(?:alpha|beta|rc|next|canary|dev|pre|preview|snapshot|nightly|lts|final|post|p|a|b)[.-]?\d{0,8})?`
const NUMBER = String.raw`v?\d{1,6}(?:\.\d{1,8}){1,3}${SUFFIX}`
const ALONE = new RegExp(String.raw`^[\^~=]?(${NUMBER})$`, 'i')
const NAMED = new RegExp(
  String.raw`^[\s*├└─│┬|-]{0,12}((?:[@\p{L}][\p{L}\p{N}@._/+-]*)(?: \(?[\p{L}][\p{L}\p{N}._/+-]*\)?){0,3})(?: version)?(?: is)?[:=]{0,2}\s+"?(?:go)?(${NUMBER})"?(?:[\s,;(].{0,80})?$`,
  'iu',
)
/** `wire protocol v7`, `schema 2024-11`: only in the output of a script that reports such things. */
const LOOSE =
  /^((?:[\p{L}][\p{L}\p{N}._/+-]*)(?: [\p{L}][\p{L}\p{N}._/+-]*){0,3})(?: is)?[:=]{0,2}\s+(v\d{1,6}|\d{4}-\d{2}(?:-\d{2})?|\d{1,6})$/u
const PACKAGE = new RegExp(
  String.raw`(?:^|[\s─"'])((?:@[\w.-]+\/)?[\w.-]+)@(${NUMBER})(?=$|[\s"',])`,
  'i',
)

function readerFor(command: ShellCommand): Reader | undefined {
  const { words } = command
  const program = programOf(words)
  if (command.before === '|') return undefined
  return (
    packageManager(program, words) ??
    evaluated(program, words) ??
    versionFile(program, words) ??
    versionFlag(program, words) ??
    infoScript(program, words)
  )
}

const alone =
  (subject: string): Reader =>
  (lines) => {
    const line = lines.find((each) => ALONE.test(each))
    return line === undefined ? [] : [{ subject, version: withoutV(ALONE.exec(line)![1]!) }]
  }

const named: Reader = (lines) =>
  lines.flatMap((line) => {
    const [, subject, version] = NAMED.exec(line) ?? []
    return subject === undefined || version === undefined
      ? []
      : [{ subject: subject.replace(/ version$/i, ''), version: withoutV(version) }]
  })

const packages: Reader = (lines) =>
  lines.flatMap((line) => {
    const [, subject, version] = PACKAGE.exec(line) ?? []
    return subject === undefined || version === undefined || /UNMET|missing/.test(line)
      ? []
      : [{ subject, version: withoutV(version) }]
  })

function withoutV(version: string) {
  return version.replace(/^v(?=\d+\.)/i, '')
}

const operandsOf = (words: readonly string[]) =>
  words.slice(1).filter((word) => !word.startsWith('-'))

function packageManager(program: string, words: readonly string[]): Reader | undefined {
  const [verb = '', ...names] = operandsOf(words)
  if (/^(?:npm|pnpm|yarn|bun)$/.test(program)) {
    const bump = /^(?:patch|minor|major)$/.exec(names[0] ?? '')?.[0] as FoundVersion['bump']
    if (verb === 'version')
      return (lines) =>
        alone('package version')(lines).map((found) =>
          bump === undefined ? found : { ...found, bump },
        )
    if (/^(?:ls|list|ll|why)$/.test(verb) && names.length > 0)
      return (lines) =>
        packages(lines).filter(({ subject }) => names.some((name) => name.startsWith(subject)))
    if (/^(?:view|info|show|v)$/.test(verb) && names[1] === 'version') return alone(names[0]!)
  }
  if (
    /^(?:pip3?|uv|poetry)$/.test(program) ||
    (program.startsWith('python') && words.includes('pip'))
  ) {
    if (words.includes('show'))
      return (lines) => {
        const value = (key: RegExp) =>
          lines.find((line) => key.test(line))?.replace(/^\w+\s*:\s*/, '')
        const subject = value(/^name\s*:/i)
        const version = value(/^version\s*:/i)
        return subject === undefined || version === undefined ? [] : [{ subject, version }]
      }
    if (words.includes('freeze'))
      return (lines) =>
        lines.length > MAX_VERSIONS
          ? []
          : lines.flatMap((line) => {
              const [, subject, version] = /^([\w.-]+)==([\w.]+)$/.exec(line) ?? []
              return subject === undefined || version === undefined ? [] : [{ subject, version }]
            })
  }
  if (program === 'go' && verb === 'list' && words.includes('-m'))
    return (lines) => (lines.length > MAX_VERSIONS ? [] : named(lines))
  if (program === 'gem' && verb === 'list')
    return (lines) =>
      lines.length > MAX_VERSIONS
        ? []
        : lines.flatMap((line) => {
            const [, subject, version] = /^([\w-]+) \((?:default: )?([\d.]+)/.exec(line) ?? []
            return subject === undefined || version === undefined ? [] : [{ subject, version }]
          })
  return program === 'git' && verb === 'describe' ? alone('git tag') : undefined
}

/** `node -p "require('x/package.json').version"`, `python -c "import x; print(x.__version__)"` */
function evaluated(program: string, words: readonly string[]): Reader | undefined {
  const at = words.findIndex(
    (word, index) => index > 0 && /^(?:-[a-z]*[pec]|--print|--eval)$/.test(word),
  )
  const code = at === -1 ? undefined : words[at + 1]
  if (code === undefined || !/^(?:node|bun|deno|python\d?|ruby|perl|php)/.test(program))
    return undefined
  const file = /['"`]([^'"`]{1,160}?)\/?package\.json['"`]/.exec(code)?.[1]
  if (file !== undefined && /version/i.test(code)) return alone(subjectOf(`${file}/package.json`))
  const module = /(\w[\w.]{0,60})\.\w{0,20}version\w*/i.exec(code)?.[1]
  if (module === undefined) return undefined
  const engine = /^(?:process|sys|platform)$/.test(module) ? program.replace(/\d$/, '') : module
  return alone(engine)
}

/** The folder says what a `package.json` or a `VERSION` is of. */
function subjectOf(path: string) {
  const folder = dirname(path)
  const name = basename(folder)
  if (name === '' || name === '.' || name === '..') return 'package version'
  const scope = basename(dirname(folder))
  return scope.startsWith('@') ? `${scope}/${name}` : name
}

const PINNED: Readonly<Record<string, string>> = {
  '.nvmrc': 'node',
  '.node-version': 'node',
  '.python-version': 'python',
  '.ruby-version': 'ruby',
  '.java-version': 'java',
  '.go-version': 'go',
  '.terraform-version': 'terraform',
}

function versionFile(program: string, words: readonly string[]): Reader | undefined {
  if (!/^(?:cat|head|tail|grep|egrep|rg|sed|awk|jq|less|more)$/.test(program)) return undefined
  const path = words.findLast((word, index) => index > 0 && !word.startsWith('-')) ?? ''
  const name = basename(path)
  const pinned = PINNED[name]
  if (pinned !== undefined) return alone(pinned)
  if (name === '.tool-versions') return named
  if (/^\.?version(?:\.txt)?$/i.test(name)) return alone(subjectOf(path))
  const isManifest = /^(?:package|composer|manifest)\.json$|^(?:Cargo|pyproject)\.toml$/.test(name)
  if (!isManifest || !/^(?:grep|egrep|rg|jq|cat)$/.test(program)) return undefined
  return (lines) => {
    // `cat` with a filter behind it prints a line or two.
    if (lines.length > (program === 'cat' ? 2 : MAX_VERSIONS)) return []
    if (program === 'jq')
      return alone(jqSubject(words, path))(lines.map((line) => line.replaceAll('"', '')))
    return lines.flatMap((line) => {
      const [, key, version] =
        /^(?:\d+[:-]\s*)?"?([@\w/.-]+)"?\s*[:=]\s*"[\^~=]?(v?\d[\w.-]{0,30})",?$/.exec(line) ?? []
      if (key === undefined || version === undefined || !ALONE.test(version)) return []
      return [{ subject: key === 'version' ? subjectOf(path) : key, version: withoutV(version) }]
    })
  }
}

function jqSubject(words: readonly string[], path: string) {
  const filter = words.find((word) => word.startsWith('.')) ?? '.'
  const key = /\.(?:(?:dev|peer)?[dD]ependencies)(?:\.|\[")([@\w/.-]+)/.exec(filter)?.[1]
  return key ?? subjectOf(path)
}

function versionFlag(program: string, words: readonly string[]): Reader | undefined {
  const rest = words.slice(1)
  const asks =
    rest.some((word) => /^(?:--version|-version|-V)$/.test(word)) ||
    (rest.length > 0 && rest.length <= 2 && rest.at(-1) === '-v') ||
    (rest[0] === 'version' && rest.length <= 3)
  if (
    !asks ||
    /^(?:grep|egrep|rg|sed|awk|find|test|curl|sort|ls|cat|head|tail|echo)$/.test(program)
  )
    return rest.length > 0 &&
      /^(?:curl|sed|awk|grep|bash)$/.test(program) &&
      rest[0] === '--version'
      ? (lines) => named(lines.slice(0, 1))
      : undefined
  const script = /^(?:node|python\d?|ruby|php|bash|sh|deno|bun|tsx)$/.test(program)
    ? rest.find((word) => !word.startsWith('-'))
    : undefined
  const subject = basename(script ?? program).replace(/\.\w{1,4}$/, '')
  return (lines) => {
    const only = lines.slice(0, 3)
    const bare = alone(subject)(only)
    if (bare.length > 0) return bare
    const [first] = named(only)
    if (first !== undefined) return [first]
    const version = (VERSION_WORD.exec(only.join('\n')) ?? AT_AN_END.exec(only[0] ?? ''))?.[1]
    return version === undefined ? [] : [{ subject, version: withoutV(version) }]
  }
}

const VERSION_WORD = new RegExp(String.raw`\bversion:?\s+"?(?:go)?(${NUMBER})`, 'i')
/** `3.40.1 2022-12-28 …`, `gcc (Ubuntu 11.4.0-1ubuntu1) 11.4.0` */
const AT_AN_END = new RegExp(
  String.raw`^(?=\d|.{0,80} \S+$)(?:.{0,80}\s)??(${NUMBER})(?:$|(?<=^\S+)\s)`,
  'i',
)

const INFO =
  /^(?:about|doctor|info|versions?|schema|env(?:info)?|sys-?info|system-?info|diagnos\w*|toolchain|status|health|components|deps|engines|stack|platform|whatis|report-?versions?|print-?versions?|show-?versions?)$/

/**
 * A script of the project that prints nothing but names and versions. Any name will do for full
 * versions; the looser forms count only if the name of the script says that it reports them.
 */
function infoScript(program: string, words: readonly string[]): Reader | undefined {
  const rest = operandsOf(words)
  const isInterpreter = /^(?:node|python\d?|ruby|php|bash|sh|deno|bun|tsx|perl)$/.test(program)
  const isStarter = /^(?:npm|pnpm|yarn|make|just|task|rake|composer|poetry|cargo|mix)$/.test(
    program,
  )
  const isLocal = words[0]?.includes('/') === true
  const names = [program, ...rest].map((word) => basename(word).replace(/\.\w{1,4}$/, ''))
  const isInfo = names.some((name) => name.split(/[:._-]/).some((part) => INFO.test(part)))
  if (!isInterpreter && !isStarter && !isLocal && !isInfo) return undefined
  return (lines) => {
    if (lines.length > 12) return isInfo ? named(lines).slice(0, MAX_VERSIONS) : []
    const found = lines.map((line) => named([line])[0] ?? (isInfo ? loose(line) : undefined))
    const known = found.filter((each) => each !== undefined)
    const isReport = isInfo ? known.length * 2 >= lines.length : known.length === lines.length
    return isReport && (isInfo || known.every(({ version }) => /\.\d+\./.test(version)))
      ? known
      : []
  }
}

function loose(line: string): FoundVersion | undefined {
  const [, subject, version] = LOOSE.exec(line) ?? []
  return subject === undefined || version === undefined ? undefined : { subject, version }
}
