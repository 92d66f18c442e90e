// Reads tracked paths and a few manifests. Runs nothing of the repository.
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

const GIT_LISTING = 'git ls-files'

export function surveyRepository(
  repository: Repository,
  listing: TrackedFiles,
  sources: SourceReader,
): readonly ProjectFact[] {
  const survey = new FolderSurvey(listing, sources)
  const tree = buildFolderTree(listing.paths)
  readRootOrNearest(survey)
  findLanguages(survey, tree)
  findCommands(survey)
  findLayout(survey, tree)
  findTests(survey)
  findInstructions(survey)
  findConventions(survey)
  findCommitStyle(survey, lastSubjects(repository))
  findCi(survey)
  return survey.facts
}

const MANIFEST =
  /(?:^|\/)(?:package\.json|pyproject\.toml|setup\.py|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|composer\.json|mix\.exs|Makefile)$/
const MAX_MANIFEST_DEPTH = 2
const MAX_MANIFEST_FOLDERS = 3

/** If the root has no commands, the manifests of the nearest folders count. */
function readRootOrNearest(survey: FolderSurvey) {
  readManifests(survey)
  if (survey.commands.length > 0) return
  const depth = (folder: string) => folder.split('/').length
  const folders = survey.listing.paths
    .filter((path) => MANIFEST.test(path) && path.includes('/'))
    .map((path) => path.slice(0, path.lastIndexOf('/')))
  const nearest = [...new Set(folders)]
    .filter((folder) => depth(folder) <= MAX_MANIFEST_DEPTH && isOwnCode(folder))
    .toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, MAX_MANIFEST_FOLDERS)
  for (const folder of nearest) {
    const inside = new FolderSurvey(survey.listing, survey.sources, folder)
    readManifests(inside)
    survey.facts.push(...inside.facts)
    survey.commands.push(...inside.commands)
  }
}

/** A line for each purpose: `test: npm test (vitest run); make test`. */
function findCommands(survey: FolderSurvey) {
  for (const purpose of COMMAND_PURPOSES) {
    const serving = survey.commands.filter((command) => command.purpose === purpose)
    if (serving.length === 0) continue
    const words = serving.map(({ command, runs = command }) =>
      runs === command ? command : `${command} (${runs})`,
    )
    const from = [...new Set(serving.map((each) => each.from))].join(', ')
    survey.addFact('commands', `${purpose}: ${words.join('; ')}`, from)
  }
}

const MAX_LANGUAGES = 5
const MIN_LANGUAGE_SHARE = 0.02

function findLanguages(survey: FolderSurvey, tree: Folder) {
  const total = codeIn(tree)
  const shown = byCount(tree.languages).filter(([, count]) => count / total >= MIN_LANGUAGE_SHARE)
  for (const [language, count] of shown.slice(0, MAX_LANGUAGES)) {
    const share = shown.length === 1 ? '' : ` ${Math.round((100 * count) / total)}%`
    survey.addFact('languages', `${language}${share}`, GIT_LISTING)
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

const MAX_FOLDERS = 14
const MAX_SUBFOLDERS = 24

function findLayout(survey: FolderSurvey, tree: Folder) {
  const folders = [...tree.folders.values()]
    .filter(({ name }) => !name.startsWith('.'))
    .toSorted((a, b) => weight(b) - weight(a) || (a.name < b.name ? -1 : 1))
  for (const folder of folders.slice(0, MAX_FOLDERS))
    survey.addFact('layout', describeFolder(folder), GIT_LISTING)
}

/** Own code first, then tests and examples, vendored code last. */
function weight(folder: Folder) {
  if (isVendored(folder.path)) return -1
  const isSecondary = SECONDARY.test(KIND_OF.get(folder.name.toLowerCase()) ?? folder.name)
  return (codeIn(folder) * 1000 + Math.min(999, folder.files)) * (isSecondary ? 1 : 1000)
}

const SECONDARY = /test|examples|benchmarks|documentation|fixtures|scripts|tools|build/

function codeIn({ languages }: Folder) {
  return [...languages.values()].reduce((sum, count) => sum + count, 0)
}

function describeFolder(folder: Folder) {
  const branch = firstBranching(folder)
  const kind = KIND_OF.get(folder.name.toLowerCase()) ?? KIND_OF.get(branch.name.toLowerCase())
  const [main] = byCount(folder.languages)
  const facts = [kind, main?.[0], `${folder.files} ${folder.files === 1 ? 'file' : 'files'}`]
  const inside = kind?.includes('tests') === true ? [] : subfolderNames(branch)
  return `${branch.path}/ (${facts.filter(Boolean).join(', ')})${inside.length === 0 ? '' : `: ${inside.join(' ')}`}`
}

/** A single subfolder would say nothing. */
function subfolderNames(folder: Folder) {
  const inside = [...folder.folders.values()].filter(
    (each) => codeIn(each) > 0 && !each.name.startsWith('.'),
  )
  if (inside.length < 2) return []
  const most = inside
    .toSorted((a, b) => codeIn(b) - codeIn(a) || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUBFOLDERS)
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
const MAX_TEST_PATTERNS = 3

function findTests(survey: FolderSurvey) {
  const dependencies = dependenciesOf(survey)
  for (const name of JS_FRAMEWORKS)
    if (dependencies.has(name)) survey.addFact('tests', name, 'package.json')
  const counts = new Map<string, number>()
  for (const path of survey.listing.paths) {
    const pattern = testPattern(path)
    if (pattern !== undefined && !isVendored(path.slice(0, path.lastIndexOf('/') + 1)))
      counts.set(pattern, (counts.get(pattern) ?? 0) + 1)
  }
  for (const [pattern, count] of byCount(counts).slice(0, MAX_TEST_PATTERNS))
    survey.addFact('tests', `${pattern} (${count})`, GIT_LISTING)
}

/** The root folder and the file pattern, as in `test/…/*.test.ts`. */
function testPattern(path: string) {
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

/** Only named: the agent or its harness reads these files itself. */
function findInstructions(survey: FolderSurvey) {
  const rules = survey.namesIn('.cursor/rules').length > 0 ? ['.cursor/rules/'] : []
  for (const path of [...INSTRUCTIONS.filter(survey.has), ...rules])
    survey.addFact('instructions', path, path)
}

/** Recognised by a config file or by a dependency. */
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

function findConventions(survey: FolderSurvey) {
  const names = survey.namesIn('')
  const dependencies = dependenciesOf(survey)
  const isDependency = (tool: Tool) => dependencies.has(tool[2] ?? '')
  const inOrder = [...TOOLS.filter(isDependency), ...TOOLS.filter((tool) => !isDependency(tool))]
  for (const tool of inOrder) {
    const file = names.find((name) => tool[1]?.test(name))
    const from = file ?? (isDependency(tool) ? 'package.json' : undefined)
    if (from !== undefined) survey.addFact('conventions', tool[0], from)
  }
  if (survey.has('.editorconfig'))
    survey.addFact('conventions', indentation(survey.text('.editorconfig')), '.editorconfig')
  const config = 'tsconfig.json'
  if (survey.has(config) && /"strict"\s*:\s*true/.test(survey.text(config)))
    survey.addFact('conventions', 'strict TypeScript', config)
}

function indentation(config: string) {
  const everywhere = /^\[\*\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(config)?.[1] ?? ''
  const style = /^\s*indent_style\s*=\s*(tab|space)/im.exec(everywhere)?.[1]?.toLowerCase()
  const size = /^\s*indent_size\s*=\s*(\d+)/im.exec(everywhere)?.[1]
  if (style === undefined) return undefined
  if (style === 'tab') return 'indented with tabs'
  return size === undefined ? 'indented with spaces' : `indented with ${size} spaces`
}

const MAX_SUBJECTS = 50
const MIN_SUBJECTS = 5
/** Share of commits from which a style counts as the convention. */
const MIN_STYLE_SHARE = 0.6
const MAX_EXAMPLE_LENGTH = 60

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
    return runGit(worktree, ['log', `--max-count=${MAX_SUBJECTS}`, ...format])
      .split('\n')
      .filter(Boolean)
  } catch (error) {
    if (error instanceof GitFailed) return []
    throw error
  }
}

function findCommitStyle(survey: FolderSurvey, subjects: readonly string[]) {
  if (subjects.length < MIN_SUBJECTS) return
  for (const [style, pattern] of COMMIT_STYLES) {
    const fitting = subjects.filter((subject) => pattern.test(subject))
    if (fitting.length / subjects.length < MIN_STYLE_SHARE) continue
    const count = fitting.length === subjects.length ? 'all' : fitting.length
    const short = fitting.find((subject) => subject.length <= MAX_EXAMPLE_LENGTH) ?? fitting[0]!
    const example = shorten(short, MAX_EXAMPLE_LENGTH)
    const text = `${style}, ${count} of the last ${subjects.length}; e.g. "${example}"`
    return survey.addFact('commits', text, 'git log')
  }
}

const CI_FILES =
  '.gitlab-ci.yml .circleci/config.yml azure-pipelines.yml .travis.yml Jenkinsfile .drone.yml .ci/run'.split(
    ' ',
  )
const MAX_CI_FILES = 4
const MAX_CI_COMMANDS = 6

// Commands that check something, not those that set up the machine.
const CHECK_COMMAND =
  /(?:^|[\s:/-])(?:test|tests|lint|check|build|clippy|vet|fmt|pytest|tox|ruff|mypy|verify|typecheck|rspec|phpunit|ctest)\b/
const SETUP_COMMAND =
  /^(?:echo|cd|export|set|if|fi|for|done|sudo|apt|apt-get|brew|curl|wget|pip|git|mkdir|cat|docker (?:login|push|pull)|npm (?:ci|install)|yarn install|pnpm install)\b/

/** The checks of CI show best which commands have to pass. */
function findCi(survey: FolderSurvey) {
  // Test workflows before those that publish or label.
  const isMain = (name: string) =>
    /^(?:ci|test|tests|build|main|check|checks|pull[_-]?request|pr)\b/i.test(name)
  const workflows = survey
    .namesIn('.github/workflows')
    .filter((name) => /\.ya?ml$/.test(name))
    .toSorted((a, b) => Number(isMain(b)) - Number(isMain(a)) || (a < b ? -1 : 1))
    .map((name) => `.github/workflows/${name}`)
  const files = [...workflows, ...CI_FILES.filter(survey.has)]
    .slice(0, MAX_CI_FILES)
    .map((from) => {
      const commands = [...new Set(checksIn(survey.text(from)))].slice(0, MAX_CI_COMMANDS)
      return { from, commands }
    })
  // Files without checks are listed only if no file has any.
  const checking = files.filter(({ commands }) => commands.length > 0)
  for (const { from, commands } of checking.length > 0 ? checking : files)
    survey.addFact('ci', commands.length === 0 ? from : `${from} runs ${commands.join('; ')}`, from)
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
    .filter((line) => CHECK_COMMAND.test(line) && !SETUP_COMMAND.test(line))
    .map((line) =>
      line
        .replace(/\s*(?:\|\||>|#| -- ).*$/, '')
        .replace(/\s+\\$/, '')
        .trim(),
    )
    .filter((line) => line.length < 80 && line.includes(' '))
}
