import { programOf } from './unwrap-command.ts'

export function runsTests(words: readonly string[]): boolean {
  if (words.some((word) => DRY_OPTIONS.has(word))) return false
  return (
    namesTests(words) ||
    (CONTAINERS.has(programOf(words)) &&
      words.some((_, at) => at > 1 && namesTests(words.slice(at))))
  )
}

const DRY_OPTIONS = new Set(
  (
    '--help --version --collect-only --co --listTests --list-tests --list -list --no-run --showConfig --show-config --init ' +
    '--dry-run'
  ).split(' '),
)

const CONTAINERS = new Set('docker podman docker-compose kubectl ssh vagrant wsl'.split(' '))

function namesTests(words: readonly string[]) {
  const program = programOf(words)
  return (
    RUNNERS.has(program) ||
    SCRIPTS.test(program) ||
    PROGRAMS.get(program)?.(words.slice(1)) === true
  )
}

const RUNNERS = new Set(
  (
    'pytest py.test vitest jest mocha ava tap tape jasmine uvu wtr web-test-runner testcafe phpunit pest paratest rspec ctest ' +
    'bats tox nox nosetests nose2 ward behave cucumber robot prove busted gotestsum ginkgo cargo-nextest kaocha lit llvm-lit ' +
    'xctest karma'
  ).split(' '),
)

const SCRIPTS =
  /^(?:run[-_]?)?(?:all[-_]?|unit[-_]?)?tests?(?:\.(?:sh|bash|py|rb|pl|php|[cm]?[jt]s))$|^run[-_]?(?:all[-_]?)?tests?$/i

type Predicate = (rest: readonly string[]) => boolean

const scripts: Predicate = (rest) => {
  const [first = '', ...more] = operands(rest)
  if (/^(?:run|run-script|rum|urn|--)$/.test(first))
    return isTestScript(operands(more)[0] ?? '') || namesTests(more)
  if (/^(?:workspace|workspaces|foreach|recursive)$/.test(first))
    return more.some((_, at) => scripts(more.slice(at)))
  return first === 't' || first === 'tst' || isTestScript(first) || namesTests([first, ...more])
}

const targets: Predicate = (rest) => operands(rest).some(isTestTarget)

const first =
  (...names: readonly string[]): Predicate =>
  (rest) =>
    names.includes(operands(rest)[0] ?? '')

const anyOperand =
  (pattern: RegExp): Predicate =>
  (rest) =>
    operands(rest).some((word) => pattern.test(word))

const anyWord =
  (pattern: RegExp): Predicate =>
  (rest) =>
    rest.some((word) => pattern.test(word))

const runsScript =
  (...verbs: readonly string[]): Predicate =>
  (rest) =>
    first(...verbs)(rest) && isTestScript(operands(rest)[1] ?? '')

const interpreter: Predicate = (rest) => isTestFile(operands(rest)[0] ?? '')

const node: Predicate = (rest) => rest.includes('--test') || interpreter(rest)

const python: Predicate = (rest) => {
  const at = rest.indexOf('-m')
  const module = at === -1 ? undefined : rest[at + 1]
  if (module !== undefined)
    return (
      /^(?:pytest|unittest|nose2?|tox|nox|ward|behave|django)$/.test(module) ||
      (module === 'coverage' && python(rest.slice(at + 2)))
    )
  const [script = '', action = ''] = operands(rest)
  if (/(?:^|\/)(?:manage|setup|runtests)\.py$/.test(script))
    return script.endsWith('runtests.py') || action === 'test'
  return isTestFile(script)
}

const cargo: Predicate = (rest) => {
  const [verb = '', next = ''] = operands(rest.filter((word) => !word.startsWith('+')))
  if (verb === 'nextest') return next === 'run' || next === 'r'
  if (/^(?:miri|hack|careful)$/.test(verb)) return /^(?:test|nextest)$/.test(next)
  return /^(?:test|t|tarpaulin|llvm-cov)$/.test(verb)
}

const maven: Predicate = (rest) =>
  anyOperand(/^(?:test|verify|integration-test|surefire:test|failsafe:\S+)$/)(rest) &&
  !rest.includes('-DskipTests')

const PROGRAM_TABLE: readonly (readonly [programs: string, runsTestsWith: Predicate])[] = [
  ['npm pnpm yarn bun hatch rye pdm poetry uv pipenv composer', scripts],
  ['make gmake ninja just task mage rake invoke inv ant grunt gulp lein', targets],
  ['playwright manage.py django-admin meson artisan swift buck2 stack flutter', first('test')],
  ['gleam elm forge hardhat', first('test')],
  ['ts-node ruby perl bash sh', interpreter],
  ['node tsx', node],
  ['python python2 python3 py', python],
  ['cypress codecept', first('run')],
  ['bazel bazelisk', first('test', 'coverage')],
  ['mvn mvnw', maven],
  ['gradle gradlew', anyOperand(/(?:^|:)(?:check|test|\w*Tests?|test[A-Z]\w*)$/)],
  ['deno', (rest) => first('test')(rest) || runsScript('task', 'run')(rest)],
  ['lerna', runsScript('run')],
  ['turbo', (rest) => operands(rest).some(isTestScript)],
  [
    'nx',
    (rest) =>
      operands(rest).some((word) => isTestScript(word) || /:(?:test|e2e)$/.test(word)) ||
      /(?:^| )(?:-t|--target|--targets)[= ]\S*test/.test(rest.join(' ')),
  ],
  ['go', (rest) => first('test')(rest) && !rest.includes('-c')],
  ['cargo', cargo],
  ['mill', anyOperand(/(?:^|[._])test(?:$|[._])/i)],
  ['cmake', (rest) => rest.includes('--build') && targets(rest)],
  ['dotnet', first('test', 'vstest')],
  ['rails', (rest) => /^(?:test|spec)\b/.test(operands(rest)[0] ?? '')],
  [
    'php',
    (rest) =>
      /(?:^|\/)artisan$/.test(rest[0] ?? '')
        ? rest[1] === 'test'
        : namesTests(operands(rest)) || interpreter(rest),
  ],
  ['mix', first('test', 'coveralls')],
  ['xcodebuild', anyWord(/^test(?:-without-building)?$/)],
  ['sbt', anyWord(/(?:^|[\s/:;])(?:test|testOnly|testQuick)\b/)],
  ['cabal', first('test', 'new-test', 'v2-test')],
  ['dart', (rest) => first('test')(rest) || (first('run')(rest) && operands(rest)[1] === 'test')],
  [
    'zig',
    (rest) =>
      first('test')(rest) || (first('build')(rest) && operands(rest).slice(1).some(isTestTarget)),
  ],
  ['crystal', first('spec')],
]

const PROGRAMS = new Map(
  PROGRAM_TABLE.flatMap(([programs, runsTestsWith]) =>
    programs.split(' ').map((program) => [program, runsTestsWith] as const),
  ),
)

// `build:test` prepares what tests need.
const SETUP_SCRIPT =
  /^(?:build|lint|type-?check|tsc|compile|start|serve|clean|format|prepare|install|setup|db)\b/

function isTestScript(name: string) {
  return (
    !SETUP_SCRIPT.test(name) &&
    /^(?:tests?|e2e|specs?|unit|integration)(?:[:._-]\S*)?$|[:._-](?:tests?|e2e|specs?)$/.test(name)
  )
}

function isTestTarget(name: string) {
  return (
    !SETUP_SCRIPT.test(name) &&
    /^(?:tests?|e2e|specs?|unit|integration)(?:[-_:./]\S*)?$|^check$|[-_:](?:tests?|e2e|specs?)$/.test(
      name,
    )
  )
}

function isTestFile(path: string) {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return /[._-](?:test|spec)s?\.\w+$|^tests?_\w+\.\w+$/.test(name) || SCRIPTS.test(name)
}

const VALUE_OPTIONS = new Set(
  (
    '--prefix -C --dir -w --workspace --filter -F --cwd -f --file --makefile --directory --target-dir -S -B --scope -p ' +
    '--project --manifest-path'
  ).split(' '),
)

function operands(words: readonly string[]) {
  const found: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!
    if (VALUE_OPTIONS.has(word)) at += 1
    else if (!word.startsWith('-') && !/^[A-Za-z_]\w*=/.test(word)) found.push(word)
  }
  return found
}
