import { programOf } from './unwrap-command.ts'

/** Whether a command runs tests, going by its words. A program that may be anything is judged by what it is told to do. */
export function runsTests(words: readonly string[]): boolean {
  if (words.some((word) => NO_RUN.has(word))) return false
  return (
    namesTests(words) ||
    (CONTAINERS.has(programOf(words)) &&
      words.some((_, at) => at > 1 && namesTests(words.slice(at))))
  )
}

/** What turns a test runner into something that runs no test. */
const NO_RUN = new Set([
  '--help',
  '--version',
  '--collect-only',
  '--co',
  '--listTests',
  '--list-tests',
  '--list',
  '-list',
  '--no-run',
  '--showConfig',
  '--show-config',
  '--init',
  '--dry-run',
])

const CONTAINERS = new Set([
  'docker',
  'podman',
  'docker-compose',
  'kubectl',
  'ssh',
  'vagrant',
  'wsl',
])

function namesTests(words: readonly string[]): boolean {
  const program = programOf(words)
  const rest = words.slice(1)
  if (RUNNERS.has(program)) return true
  if (SCRIPTS.test(program)) return true
  const isTest = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined
  return isTest?.(rest) ?? false
}

/** Programs that do nothing but run tests. */
const RUNNERS = new Set(
  (
    'pytest py.test vitest jest mocha ava tap tape jasmine uvu wtr web-test-runner testcafe phpunit pest paratest rspec ctest ' +
    'bats tox nox nosetests nose2 ward behave cucumber robot prove busted gotestsum ginkgo cargo-nextest kaocha lit llvm-lit ' +
    'xctest karma'
  ).split(' '),
)

/** A script that says in its own name that it tests. */
const SCRIPTS =
  /^(?:run[-_]?)?(?:all[-_]?|unit[-_]?)?tests?(?:\.(?:sh|bash|py|rb|pl|php|[cm]?[jt]s))$|^run[-_]?(?:all[-_]?)?tests?$/i

type Judge = (rest: readonly string[]) => boolean

const scripts: Judge = (rest) => {
  const [first = '', ...more] = operands(rest)
  if (/^(?:run|run-script|rum|urn|--)$/.test(first))
    return isTestScript(operands(more)[0] ?? '') || namesTests(more)
  if (/^(?:workspace|workspaces|foreach|recursive)$/.test(first))
    return more.some((_, at) => scripts(more.slice(at)))
  return first === 't' || first === 'tst' || isTestScript(first) || namesTests([first, ...more])
}

const targets: Judge = (rest) => operands(rest).some(isTestTarget)

const first =
  (...names: readonly string[]): Judge =>
  (rest) =>
    names.includes(operands(rest)[0] ?? '')

const python: Judge = (rest) => {
  const module = rest[rest.indexOf('-m') + 1]
  if (rest.includes('-m') && module !== undefined) {
    return (
      /^(?:pytest|unittest|nose2?|tox|nox|ward|behave|django)$/.test(module) ||
      (module === 'coverage' && python(rest.slice(rest.indexOf('-m') + 2)))
    )
  }
  const [script = '', action = ''] = operands(rest)
  if (/(?:^|\/)(?:manage|setup|runtests)\.py$/.test(script))
    return script.endsWith('runtests.py') || action === 'test'
  return isTestFile(script)
}

const interpreter: Judge = (rest) => isTestFile(operands(rest)[0] ?? '')

const PROGRAMS: Readonly<Record<string, Judge>> = {
  npm: scripts,
  pnpm: scripts,
  yarn: scripts,
  bun: scripts,
  node: (rest) => rest.includes('--test') || interpreter(rest),
  tsx: (rest) => rest.includes('--test') || interpreter(rest),
  'ts-node': interpreter,
  deno: (rest) =>
    first('test')(rest) || (first('task', 'run')(rest) && isTestScript(operands(rest)[1] ?? '')),
  playwright: first('test'),
  cypress: first('run'),
  turbo: (rest) => operands(rest).some(isTestScript),
  nx: (rest) =>
    operands(rest).some((word) => isTestScript(word) || /:(?:test|e2e)$/.test(word)) ||
    /(?:^| )(?:-t|--target|--targets)[= ]\S*test/.test(rest.join(' ')),
  lerna: (rest) => first('run')(rest) && isTestScript(operands(rest)[1] ?? ''),
  python,
  python2: python,
  python3: python,
  py: python,
  'manage.py': first('test'),
  'django-admin': first('test'),
  hatch: scripts,
  rye: scripts,
  pdm: scripts,
  poetry: scripts,
  uv: scripts,
  pipenv: scripts,
  go: (rest) => first('test')(rest) && !rest.includes('-c'),
  cargo: (rest) => {
    const [verb = '', next = ''] = operands(rest.filter((word) => !word.startsWith('+')))
    if (verb === 'nextest') return next === 'run' || next === 'r'
    if (/^(?:llvm-cov|miri|hack|careful)$/.test(verb))
      return verb === 'llvm-cov' || /^(?:test|nextest)$/.test(next)
    return /^(?:test|t|tarpaulin)$/.test(verb)
  },
  make: targets,
  gmake: targets,
  ninja: targets,
  just: targets,
  task: targets,
  mage: targets,
  rake: targets,
  invoke: targets,
  inv: targets,
  ant: targets,
  grunt: targets,
  gulp: targets,
  lein: targets,
  mill: (rest) => operands(rest).some((word) => /(?:^|[._])test(?:$|[._])/i.test(word)),
  cmake: (rest) => rest.includes('--build') && targets(rest),
  meson: first('test'),
  mvn: maven,
  mvnw: maven,
  gradle,
  gradlew: gradle,
  dotnet: first('test', 'vstest'),
  rails: (rest) => /^(?:test|spec)\b/.test(operands(rest)[0] ?? ''),
  artisan: first('test'),
  php: (rest) =>
    /(?:^|\/)artisan$/.test(rest[0] ?? '')
      ? rest[1] === 'test'
      : namesTests(operands(rest)) || interpreter(rest),
  composer: scripts,
  ruby: interpreter,
  perl: interpreter,
  codecept: first('run'),
  mix: first('test', 'coveralls'),
  swift: first('test'),
  xcodebuild: (rest) => rest.some((word) => /^test(?:-without-building)?$/.test(word)),
  bazel: first('test', 'coverage'),
  bazelisk: first('test', 'coverage'),
  buck2: first('test'),
  sbt: (rest) => rest.some((word) => /(?:^|[\s/:;])(?:test|testOnly|testQuick)\b/.test(word)),
  stack: first('test'),
  cabal: first('test', 'new-test', 'v2-test'),
  flutter: first('test'),
  dart: (rest) => first('test')(rest) || (first('run')(rest) && operands(rest)[1] === 'test'),
  zig: (rest) =>
    first('test')(rest) || (first('build')(rest) && operands(rest).slice(1).some(isTestTarget)),
  crystal: first('spec'),
  gleam: first('test'),
  elm: first('test'),
  forge: first('test'),
  hardhat: first('test'),
  bash: interpreter,
  sh: interpreter,
}

function maven(rest: readonly string[]): boolean {
  return (
    operands(rest).some((word) =>
      /^(?:test|verify|integration-test|surefire:test|failsafe:\S+)$/.test(word),
    ) && !rest.includes('-DskipTests')
  )
}

function gradle(rest: readonly string[]): boolean {
  return operands(rest).some((word) => /(?:^|:)(?:check|test|\w*Tests?|test[A-Z]\w*)$/.test(word))
}

// `build:test` prepares what tests need.
const PREPARES =
  /^(?:build|lint|type-?check|tsc|compile|start|serve|clean|format|prepare|install|setup|db)\b/

function isTestScript(name: string): boolean {
  if (PREPARES.test(name)) return false
  return (
    /^(?:tests?|e2e|specs?|unit|integration)(?:[:._-]\S*)?$/.test(name) ||
    /[:._-](?:tests?|e2e|specs?)$/.test(name)
  )
}

function isTestTarget(name: string): boolean {
  if (PREPARES.test(name)) return false
  return /^(?:tests?|e2e|specs?|unit|integration)(?:[-_:./]\S*)?$|^check$|[-_:](?:tests?|e2e|specs?)$/.test(
    name,
  )
}

/** A file of tests that is run as a program. */
function isTestFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return (
    /[._-](?:test|spec)s?\.\w+$/.test(name) || /^tests?_\w+\.\w+$/.test(name) || SCRIPTS.test(name)
  )
}

const VALUED = new Set(
  '--prefix -C --dir -w --workspace --filter -F --cwd -f --file --makefile --directory --target-dir -S -B --scope -p --project --manifest-path'.split(
    ' ',
  ),
)

/** The words that are no options, nor their values. */
function operands(words: readonly string[]): readonly string[] {
  const found: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!
    if (VALUED.has(word)) at += 1
    else if (!word.startsWith('-') && !/^[A-Za-z_]\w*=/.test(word)) found.push(word)
  }
  return found
}
