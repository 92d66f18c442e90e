// Read from git's listing and a few manifests. Nothing in the repository is run.
import type { Repository } from '../../git/repository.ts'
import { GitFailed, runGit } from '../../git/run-git.ts'
import { shorten } from '../../text/clean.ts'
import {
  type Folder,
  byCount,
  isVendored,
  isOwnCode,
  buildFolderTree,
  firstBranching,
} from './folder-tree.ts'
import {
  type ProjectFact,
  type TrackedFiles,
  FolderSurvey,
  COMMAND_PURPOSES,
  type SourceReader,
} from './folder-survey.ts'
import { dependenciesOf, readManifests } from './manifests.ts'

const FILES = 'git ls-files'

export function surveyRepository(
  repository: Repository,
  listing: TrackedFiles,
  sources: SourceReader,
): readonly ProjectFact[] {
  const look = new FolderSurvey(listing, sources)
  const tree = buildFolderTree(listing.paths)
  readRootOrNearest(look)
  findLanguages(look, tree)
  findCommands(look)
  findLayout(look, tree)
  findTests(look)
  findInstructions(look)
  findConventions(look)
  findCommitStyle(look, lastSubjects(repository))
  findCi(look)
  return look.findings
}

const MANIFEST =
  /(?:^|\/)(?:package\.json|pyproject\.toml|setup\.py|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|composer\.json|mix\.exs|Makefile)$/
const DEEPEST_MANIFEST = 2
const MOST_MANIFEST_FOLDERS = 3

/** Where the root has no commands, also the manifests of the folders nearest to it. */
function readRootOrNearest(look: FolderSurvey) {
  readManifests(look)
  if (look.commands.length > 0) return
  const depth = (folder: string) => folder.split('/').length
  const folders = look.listing.paths
    .filter((path) => MANIFEST.test(path) && path.includes('/'))
    .map((path) => path.slice(0, path.lastIndexOf('/')))
  const nearest = [...new Set(folders)]
    .filter((folder) => depth(folder) <= DEEPEST_MANIFEST && isOwnCode(folder))
    .toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, MOST_MANIFEST_FOLDERS)
  for (const folder of nearest) {
    const inside = new FolderSurvey(look.listing, look.sources, folder)
    readManifests(inside)
    look.findings.push(...inside.findings)
    look.commands.push(...inside.commands)
  }
}

/** A line for each purpose: `test: npm test (vitest run); make test`. */
function findCommands(look: FolderSurvey) {
  for (const purpose of COMMAND_PURPOSES) {
    const serving = look.commands.filter((command) => command.purpose === purpose)
    if (serving.length === 0) continue
    const words = serving.map(({ command, runs = command }) =>
      runs === command ? command : `${command} (${runs})`,
    )
    const from = [...new Set(serving.map((each) => each.from))].join(', ')
    look.found('commands', `${purpose}: ${words.join('; ')}`, from)
  }
}

const MOST_LANGUAGES = 5
const SMALLEST_SHARE = 0.02

function findLanguages(look: FolderSurvey, tree: Folder) {
  const total = codeIn(tree)
  const shown = byCount(tree.languages).filter(([, count]) => count / total >= SMALLEST_SHARE)
  for (const [language, count] of shown.slice(0, MOST_LANGUAGES)) {
    const share = shown.length === 1 ? '' : ` ${Math.round((100 * count) / total)}%`
    look.found('languages', `${language}${share}`, FILES)
  }
}

const FOLDER_KINDS = {
  source: 'src source lib core',
  libraries: 'libs',
  application: 'app',
  applications: 'apps',
  programs: 'cmd bin',
  'source, internal': 'internal',
  'source, public': 'pkg',
  headers: 'include',
  packages: 'packages',
  crates: 'crates',
  modules: 'modules',
  services: 'services',
  plugins: 'plugins',
  components: 'components',
  server: 'server',
  client: 'client',
  frontend: 'frontend',
  backend: 'backend',
  web: 'web',
  API: 'api',
  tests: 'test tests spec specs __tests__ testing',
  'end-to-end tests': 'e2e',
  'test data': 'testdata',
  'integration tests': 'itest',
  fixtures: 'fixtures',
  fuzzing: 'fuzz',
  documentation: 'doc docs',
  examples: 'examples example samples demo',
  scripts: 'script scripts hack',
  tools: 'tools',
  CI: 'ci',
  'build files': 'build cmake',
  benchmarks: 'bench benches benchmark benchmarks',
  configuration: 'config configs',
  deployment: 'deploy deployment',
  infrastructure: 'infra terraform k8s helm charts',
  containers: 'docker',
  migrations: 'migrations',
  database: 'db database sql',
  schemas: 'schema schemas',
  protocol: 'proto protos',
  'static files': 'public static',
  assets: 'assets',
  resources: 'resources',
  styles: 'styles',
  translations: 'locales i18n',
  types: 'types typings',
  vendored: 'vendor third_party',
  'build output': 'dist',
}

const KIND_OF = new Map(
  Object.entries(FOLDER_KINDS).flatMap(([kind, names]) =>
    names.split(' ').map((name) => [name, kind] as const),
  ),
)

const MOST_FOLDERS = 14
const MOST_INSIDE = 24

function findLayout(look: FolderSurvey, tree: Folder) {
  const folders = [...tree.folders.values()]
    .filter(({ name }) => !name.startsWith('.'))
    .toSorted((a, b) => weight(b) - weight(a) || (a.name < b.name ? -1 : 1))
  for (const folder of folders.slice(0, MOST_FOLDERS))
    look.found('layout', describeFolder(folder), FILES)
}

/** Own code first, then tests and examples; what others wrote counts not at all. */
function weight(folder: Folder) {
  if (isVendored(folder.path)) return -1
  const isBeside = BESIDE.test(KIND_OF.get(folder.name.toLowerCase()) ?? folder.name)
  return (codeIn(folder) * 1000 + Math.min(999, folder.files)) * (isBeside ? 1 : 1000)
}

const BESIDE = /test|examples|benchmarks|documentation|fixtures|scripts|tools|build/

function codeIn({ languages }: Folder) {
  return [...languages.values()].reduce((sum, count) => sum + count, 0)
}

function describeFolder(folder: Folder) {
  const branch = firstBranching(folder)
  const kind = KIND_OF.get(folder.name.toLowerCase()) ?? KIND_OF.get(branch.name.toLowerCase())
  const [main] = byCount(folder.languages)
  const facts = [kind, main?.[0], `${folder.files} ${folder.files === 1 ? 'file' : 'files'}`]
  const inside = kind?.includes('tests') === true ? [] : insideOf(branch)
  return `${branch.path}/ (${facts.filter(Boolean).join(', ')})${inside.length === 0 ? '' : `: ${inside.join(' ')}`}`
}

/** The folders inside that hold code, by name; a single one says nothing. */
function insideOf(folder: Folder) {
  const inside = [...folder.folders.values()].filter(
    (each) => codeIn(each) > 0 && !each.name.startsWith('.'),
  )
  if (inside.length < 2) return []
  const most = inside
    .toSorted((a, b) => codeIn(b) - codeIn(a) || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_INSIDE)
  return most.map(({ name }) => name).toSorted()
}

const JS_FRAMEWORKS =
  'vitest jest mocha ava tap jasmine @playwright/test cypress uvu node:test'.split(' ')

const TEST_NAMES: readonly (readonly [
  name: RegExp,
  pattern: (match: RegExpExecArray) => string,
])[] = [
  [/\.(test|spec|e2e|cy)\.([cm]?[jt]sx?)$/, (match) => `*.${match[1]}.${match[2]}`],
  [/^test_[^/]*\.py$/, () => 'test_*.py'],
  [/_test\.(py|go|rb|dart|exs|cc|cpp)$/, (match) => `*_test.${match[1]}`],
  [/_spec\.rb$/, () => '*_spec.rb'],
  [/^[A-Z]\w*Tests?\.(java|kt|php|cs|swift|scala)$/, (match) => `*Test.${match[1]}`],
  [/^[A-Z]\w*(?:Spec)\.(scala|groovy|kt)$/, (match) => `*Spec.${match[1]}`],
]
const MAY_BE_TEST = /test|spec|e2e|\.cy\./i
const MOST_TEST_PLACES = 3

function findTests(look: FolderSurvey) {
  const dependencies = dependenciesOf(look)
  for (const name of JS_FRAMEWORKS)
    if (dependencies.has(name)) look.found('tests', name, 'package.json')
  const counts = new Map<string, number>()
  for (const path of look.listing.paths) {
    const place = testPlace(path)
    if (place !== undefined && !isVendored(path.slice(0, path.lastIndexOf('/') + 1)))
      counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  for (const [place, count] of byCount(counts).slice(0, MOST_TEST_PLACES))
    look.found('tests', `${place} (${count})`, FILES)
}

/** A pattern such as `test/…/*.test.ts`: the folder at the root and how the file is named. */
function testPlace(path: string) {
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  if (!MAY_BE_TEST.test(name)) return undefined
  for (const [named, pattern] of TEST_NAMES) {
    const match = named.exec(name)
    if (match !== null)
      return slash < 0 ? pattern(match) : `${path.slice(0, path.indexOf('/'))}/**/${pattern(match)}`
  }
  return undefined
}

const INSTRUCTIONS =
  'AGENTS.md CLAUDE.md GEMINI.md .github/copilot-instructions.md .cursorrules .windsurfrules CONTRIBUTING.md ARCHITECTURE.md docs/ARCHITECTURE.md'.split(
    ' ',
  )

/** Named, and never copied: an agent reads them, or its program does. */
function findInstructions(look: FolderSurvey) {
  const rules = look.namesIn('.cursor/rules').length > 0 ? ['.cursor/rules/'] : []
  for (const path of [...INSTRUCTIONS.filter(look.has), ...rules])
    look.found('instructions', path, path)
}

/** By the files that configure them, or by a dependency. */
type Tool = readonly [tool: string, files: RegExp | undefined, dependency?: string]

const TOOLS: readonly Tool[] = [
  ['Prettier', /^(?:\.prettierrc(?:\..+)?|prettier\.config\..+)$/, 'prettier'],
  ['ESLint', /^(?:\.eslintrc(?:\..+)?|eslint\.config\..+)$/],
  ['Biome', /^biome\.jsonc?$/],
  ['oxlint', /^\.?oxlint(?:rc\.json|\.config\..+)$/, 'oxlint'],
  ['oxfmt', /^\.oxfmtrc\.jsonc?$/, 'oxfmt'],
  ['dprint', /^\.?dprint\.jsonc?$/],
  ['Stylelint', /^(?:\.stylelintrc(?:\..+)?|stylelint\.config\..+)$/],
  ['knip', /^knip\.(?:jsonc?|ts)$/],
  ['rustfmt', /^\.?rustfmt\.toml$/],
  ['clang-format', /^\.clang-format$/],
  ['golangci-lint', /^\.golangci\.(?:ya?ml|toml|json)$/],
  ['RuboCop', /^\.rubocop\.yml$/],
  ['PHP CS Fixer', /^\.php-cs-fixer(?:\.dist)?\.php$/],
  ['PHPStan', /^phpstan\.neon(?:\.dist)?$/],
  ['Checkstyle', /^checkstyle\.xml$/],
  ['detekt', /^detekt\.ya?ml$/],
  ['ktlint', /^\.ktlint$/],
  ['pre-commit', /^\.pre-commit-config\.yaml$/],
  ['lefthook', /^\.?lefthook\.ya?ml$/],
  ['commitlint', /^(?:\.commitlintrc(?:\..+)?|commitlint\.config\..+)$/],
  ['standard', undefined, 'standard'],
  ['xo', undefined, 'xo'],
  ['husky', undefined, 'husky'],
]

function findConventions(look: FolderSurvey) {
  const names = look.namesIn('')
  const dependencies = dependenciesOf(look)
  const isDependency = (tool: Tool) => dependencies.has(tool[2] ?? '')
  const inOrder = [...TOOLS.filter(isDependency), ...TOOLS.filter((tool) => !isDependency(tool))]
  for (const tool of inOrder) {
    const file = names.find((name) => tool[1]?.test(name))
    const from = file ?? (isDependency(tool) ? 'package.json' : undefined)
    if (from !== undefined) look.found('conventions', tool[0], from)
  }
  if (look.has('.editorconfig'))
    look.found('conventions', indentation(look.text('.editorconfig')), '.editorconfig')
  const config = 'tsconfig.json'
  if (look.has(config) && /"strict"\s*:\s*true/.test(look.text(config)))
    look.found('conventions', 'strict TypeScript', config)
}

function indentation(config: string) {
  const everywhere = /^\[\*\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(config)?.[1] ?? ''
  const style = /^\s*indent_style\s*=\s*(tab|space)/im.exec(everywhere)?.[1]?.toLowerCase()
  const size = /^\s*indent_size\s*=\s*(\d+)/im.exec(everywhere)?.[1]
  if (style === undefined) return undefined
  if (style === 'tab') return 'indented with tabs'
  return size === undefined ? 'indented with spaces' : `indented with ${size} spaces`
}

const SUBJECTS = 50
const FEWEST_SUBJECTS = 5
/** From which share on a style is the style of the house. */
const USUAL = 0.6
const LONGEST_EXAMPLE = 60

const COMMIT_STYLES: readonly (readonly [style: string, subject: RegExp])[] = [
  [
    'Conventional Commits (`type(scope): subject`)',
    /^(?:feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert|wip)(?:\([^)]+\))?!?: \S/,
  ],
  ['`area: subject`', /^[\w./,{}*-]+(?:[ /][\w./-]+)?: \S/],
  ['`[area] subject`', /^\[[^\]]+\] ?\S/],
  ['`KEY-123 subject`', /^[A-Z][A-Z0-9]+-\d+\b/],
  ['`:emoji: subject`', /^(?::\w+:|\p{Extended_Pictographic})/u],
  ['a capitalised sentence', /^[A-Z][^:]*$/],
  ['a sentence in small letters', /^[a-z][^:]*$/],
]

export function lastSubjects({ worktree }: Repository): readonly string[] {
  const format = ['--no-merges', '--no-show-signature', '--encoding=UTF-8', '--format=%s']
  try {
    return runGit(worktree, ['log', `--max-count=${SUBJECTS}`, ...format])
      .split('\n')
      .filter(Boolean)
  } catch (error) {
    if (error instanceof GitFailed) return []
    throw error
  }
}

function findCommitStyle(look: FolderSurvey, subjects: readonly string[]) {
  if (subjects.length < FEWEST_SUBJECTS) return
  for (const [style, pattern] of COMMIT_STYLES) {
    const fitting = subjects.filter((subject) => pattern.test(subject))
    if (fitting.length / subjects.length < USUAL) continue
    const count = fitting.length === subjects.length ? 'all' : fitting.length
    const short = fitting.find((subject) => subject.length <= LONGEST_EXAMPLE) ?? fitting[0]!
    const example = shorten(short, LONGEST_EXAMPLE)
    const text = `${style}, ${count} of the last ${subjects.length}; e.g. "${example}"`
    return look.found('commits', text, 'git log')
  }
}

const CI_FILES =
  '.gitlab-ci.yml .circleci/config.yml azure-pipelines.yml .travis.yml Jenkinsfile .drone.yml .ci/run'.split(
    ' ',
  )
const MOST_CI_FILES = 4
const MOST_CI_COMMANDS = 6

// What checks something, and not what sets a machine up.
const CHECKS =
  /(?:^|[\s:/-])(?:test|tests|lint|check|build|clippy|vet|fmt|pytest|tox|ruff|mypy|verify|typecheck|rspec|phpunit|ctest)\b/
const PREPARES =
  /^(?:echo|cd|export|set|if|fi|for|done|sudo|apt|apt-get|brew|curl|wget|pip|git|mkdir|cat|docker (?:login|push|pull)|npm (?:ci|install)|yarn install|pnpm install)\b/

/** The checks that CI runs are the best witness of which commands have to pass. */
function findCi(look: FolderSurvey) {
  // The one that is about testing, before those that publish and label.
  const isMain = (name: string) =>
    /^(?:ci|test|tests|build|main|check|checks|pull[_-]?request|pr)\b/i.test(name)
  const workflows = look
    .namesIn('.github/workflows')
    .filter((name) => /\.ya?ml$/.test(name))
    .toSorted((a, b) => Number(isMain(b)) - Number(isMain(a)) || (a < b ? -1 : 1))
    .map((name) => `.github/workflows/${name}`)
  const files = [...workflows, ...CI_FILES.filter(look.has)].slice(0, MOST_CI_FILES).map((from) => {
    const commands = [...new Set(checksIn(look.text(from)))].slice(0, MOST_CI_COMMANDS)
    return { from, commands }
  })
  // What checks nothing is worth its name only where nothing else is there.
  const checking = files.filter(({ commands }) => commands.length > 0)
  for (const { from, commands } of checking.length > 0 ? checking : files)
    look.found('ci', commands.length === 0 ? from : `${from} runs ${commands.join('; ')}`, from)
}

function checksIn(text: string) {
  return text
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*(?:- )?(?:(?:run|script|command):)?\s*(?:- )?/, '')
        .replace(/^(["'])(.*)\1\s*$/, '$2')
        .trim(),
    )
    .filter((line) => /^[a-z./][\w./-]*(?: |$)/.test(line) && !/:$|^[\w-]+:(?: |$)/.test(line))
    .filter((line) => CHECKS.test(line) && !PREPARES.test(line))
    .map((line) =>
      line
        .replace(/\s*(?:\|\||>|#| -- ).*$/, '')
        .replace(/\s+\\$/, '')
        .trim(),
    )
    .filter((line) => line.length < 80 && line.includes(' '))
}
