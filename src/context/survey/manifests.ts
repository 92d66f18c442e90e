import { asObject } from '../../text/json-fields.ts'
import type { CommandPurpose, FolderSurvey } from './folder-survey.ts'

type ManifestReader = (survey: FolderSurvey) => void

const JS_MANAGERS = [
  { name: 'pnpm', lock: 'pnpm-lock.yaml', run: 'pnpm' },
  { name: 'yarn', lock: 'yarn.lock', run: 'yarn' },
  { name: 'bun', lock: 'bun.lock', run: 'bun run' },
  { name: 'bun', lock: 'bun.lockb', run: 'bun run' },
  { name: 'npm', lock: 'package-lock.json', run: 'npm run' },
  { name: 'npm', lock: 'npm-shrinkwrap.json', run: 'npm run' },
]
const MAX_SCRIPTS = 20

const readPackageJson: ManifestReader = (survey) => {
  const from = 'package.json'
  const manifest = survey.json(from)
  if (manifest === undefined) return
  survey.addIdentity(from, manifest.name, manifest.description)
  const manager = jsManager(survey, manifest.packageManager)
  survey.addFact('conventions', `package manager ${manager.text}`, manager.from ?? from)
  const node = asObject(manifest.engines)?.node
  survey.addFact('needs', typeof node === 'string' ? `Node ${node}` : undefined, from)
  const scripts = scriptsOf(manifest)
  const { run } = JS_MANAGERS.find(({ name }) => name === manager.name)!
  const command = (name: string) =>
    manager.name === 'npm' && (name === 'test' || name === 'start')
      ? `npm ${name}`
      : `${run} ${name}`
  // `prebuild` runs with `build` and is never called directly.
  const isCalled = (name: string) => {
    const around = /^(?:pre|post)(.+)$/.exec(name)?.[1]
    return (
      around === undefined ||
      !(scripts.has(around) || /^(?:install|publish|pack|version)$/.test(around))
    )
  }
  const others = survey.addNamedCommands(scripts.keys(), command, from, (name) => scripts.get(name))
  for (const name of others.filter(isCalled).slice(0, MAX_SCRIPTS))
    survey.addFact('scripts', command(name), from)
}

function jsManager(survey: FolderSurvey, declared: unknown) {
  const [, name, version] =
    typeof declared === 'string' ? (/^(npm|pnpm|yarn|bun)@(\d+)?/.exec(declared) ?? []) : []
  if (name !== undefined) return { name, text: version === undefined ? name : `${name} ${version}` }
  const locked = JS_MANAGERS.find(({ lock }) => survey.has(lock))
  if (locked === undefined) return { name: 'npm', text: 'npm (no lock file)' }
  return { name: locked.name, text: locked.name, from: locked.lock }
}

function scriptsOf({ scripts }: Readonly<Record<string, unknown>>) {
  const given = Object.entries(asObject(scripts) ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  // npm's placeholder script is not a test command.
  return new Map(given.filter(([, body]) => !body.includes('no test specified')))
}

export function dependenciesOf(survey: FolderSurvey): ReadonlySet<string> {
  const manifest = survey.json('package.json') ?? {}
  const groups = [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies]
  return new Set(groups.flatMap((group) => Object.keys(asObject(group) ?? {})))
}

const PYTHON_MANAGERS = [
  ['uv', 'uv.lock'],
  ['poetry', 'poetry.lock'],
  ['pdm', 'pdm.lock'],
  ['pipenv', 'Pipfile.lock'],
] as const

const TASK_TABLES = [
  ['tool.poe.tasks', 'poe '],
  ['tool.pdm.scripts', 'pdm run '],
  ['tool.hatch.envs.default.scripts', 'hatch run '],
  ['tool.taskipy.tasks', 'task '],
] as const

/** Tool, its own files, purpose, command. */
const PYTHON_TOOLS: readonly (readonly [
  tool: string,
  files: string,
  purpose: CommandPurpose,
  command: string,
])[] = [
  ['pytest', 'pytest.ini conftest.py tests/conftest.py test/conftest.py', 'test', 'pytest'],
  ['tox', 'tox.ini', 'test', 'tox'],
  ['nox', 'noxfile.py', 'test', 'nox'],
  ['ruff', 'ruff.toml .ruff.toml', 'lint', 'ruff check'],
  ['flake8', '.flake8', 'lint', 'flake8'],
  ['pylint', '.pylintrc pylintrc', 'lint', 'pylint'],
  ['ruff.format', '', 'format', 'ruff format'],
  ['black', '', 'format', 'black .'],
  ['mypy', 'mypy.ini .mypy.ini', 'check', 'mypy .'],
  ['pyright', 'pyrightconfig.json', 'check', 'pyright'],
]

const readPython: ManifestReader = (survey) => {
  const from = 'pyproject.toml'
  if (![from, 'setup.py', 'setup.cfg', 'requirements.txt', 'Pipfile'].some(survey.has)) return
  const toml = readToml(survey.text(from))
  const own = toml.text('project', 'name') === undefined ? 'tool.poetry' : 'project'
  survey.addIdentity(from, toml.text(own, 'name'), toml.text(own, 'description'))
  const needs = toml.text('project', 'requires-python')
  survey.addFact('needs', needs && `Python ${needs}`, from)
  const [manager = 'pip', lock = 'requirements.txt'] =
    PYTHON_MANAGERS.find(([, file]) => survey.has(file)) ?? []
  if (survey.has(lock)) survey.addFact('conventions', `package manager ${manager}`, lock)
  for (const [table, run] of TASK_TABLES)
    survey.addNamedCommands(toml.keys(table), run, from, (name) => toml.text(table, name))
  const run = manager === 'pip' ? '' : `${manager} run `
  for (const [tool, files, purpose, command] of PYTHON_TOOLS) {
    const isConfigured = toml.tables.some((table) => `${table}.`.startsWith(`tool.${tool}.`))
    const used = isConfigured ? from : files.split(' ').find(survey.has)
    if (used !== undefined) survey.addCommand(purpose, `${run}${command}`, used)
  }
}

const readCargo: ManifestReader = (survey) => {
  const from = 'Cargo.toml'
  if (!survey.has(from)) return
  const toml = readToml(survey.text(from))
  survey.addIdentity(from, toml.text('package', 'name'), toml.text('package', 'description'))
  const version =
    toml.text('package', 'rust-version') ?? toml.text('workspace.package', 'rust-version')
  survey.addFact('needs', version && `Rust ${version}`, from)
  const all = toml.tables.includes('workspace') ? ' --workspace' : ''
  survey.addCommands(from, {
    build: `cargo build${all}`,
    test: `cargo test${all}`,
    lint: `cargo clippy${all}`,
    format: 'cargo fmt',
  })
}

const readGo: ManifestReader = (survey) => {
  const from = 'go.mod'
  if (!survey.has(from)) return
  const text = survey.text(from)
  const name = /^module\s+(\S+)/m.exec(text)?.[1]
  const version = /^go\s+(\S+)/m.exec(text)?.[1]
  survey.addFact('project', name && `Go module ${name}`, from)
  survey.addFact('needs', version && `Go ${version}`, from)
  survey.addCommands(from, {
    build: 'go build ./...',
    test: 'go test ./...',
    lint: 'go vet ./...',
    format: 'gofmt -w .',
  })
  const linter = ['yml', 'yaml', 'toml', 'json'].map((end) => `.golangci.${end}`).find(survey.has)
  if (linter !== undefined) survey.addCommand('lint', 'golangci-lint run', linter)
}

const readMaven: ManifestReader = (survey) => {
  const from = 'pom.xml'
  if (!survey.has(from)) return
  const own = survey.text(from).replace(/<parent>[\s\S]*?<\/parent>/, '')
  const version =
    /<(?:maven\.compiler\.release|maven\.compiler\.source|java\.version)>\s*([\d.]+)/.exec(own)?.[1]
  survey.addFact('project', /<artifactId>\s*([^<]+?)\s*<\/artifactId>/.exec(own)?.[1], from)
  survey.addFact('needs', version && `Java ${version}`, from)
  const run = survey.has('mvnw') ? './mvnw' : 'mvn'
  survey.addCommands(from, { build: `${run} package`, test: `${run} test`, check: `${run} verify` })
}

const readGradle: ManifestReader = (survey) => {
  const settings = ['settings.gradle.kts', 'settings.gradle'].find(survey.has)
  const from = ['build.gradle.kts', 'build.gradle'].find(survey.has) ?? settings
  if (from === undefined) return
  if (settings !== undefined) {
    const name = /rootProject\.name\s*=\s*["']([^"']+)/.exec(survey.text(settings))?.[1]
    survey.addFact('project', name, settings)
  }
  const run = survey.has('gradlew') ? './gradlew' : 'gradle'
  survey.addCommands(from, { build: `${run} build`, test: `${run} test`, check: `${run} check` })
}

const readComposer: ManifestReader = (survey) => {
  const from = 'composer.json'
  const manifest = survey.json(from)
  if (manifest === undefined) return
  survey.addIdentity(from, manifest.name, manifest.description)
  const scripts = asObject(manifest.scripts) ?? {}
  survey.addNamedCommands(Object.keys(scripts), 'composer ', from, (name) => {
    const runs = scripts[name]
    return typeof runs === 'string' ? runs : undefined
  })
}

const readDeno: ManifestReader = (survey) => {
  const from = ['deno.json', 'deno.jsonc'].find(survey.has)
  if (from === undefined) return
  const tasks = survey.json(from)?.tasks
  survey.addNamedCommands(Object.keys(asObject(tasks) ?? {}), 'deno task ', from)
}

/** Files whose mere presence implies commands. */
const COMMANDS_BY_FILE: readonly (readonly [
  file: string,
  commands: Partial<Record<CommandPurpose, string>>,
])[] = [
  ['mix.exs', { build: 'mix compile', test: 'mix test', format: 'mix format' }],
  ['Package.swift', { build: 'swift build', test: 'swift test' }],
  ['pubspec.yaml', { test: 'dart test', lint: 'dart analyze', format: 'dart format .' }],
  ['build.sbt', { build: 'sbt compile', test: 'sbt test' }],
  ['build.zig', { build: 'zig build', test: 'zig build test' }],
  ['stack.yaml', { build: 'stack build', test: 'stack test' }],
  ['Rakefile', { test: 'bundle exec rake' }],
  ['.rspec', { test: 'bundle exec rspec' }],
  ['.rubocop.yml', { lint: 'bundle exec rubocop' }],
  ['phpunit.xml', { test: 'vendor/bin/phpunit' }],
  ['phpunit.xml.dist', { test: 'vendor/bin/phpunit' }],
  [
    'CMakeLists.txt',
    { build: 'cmake -B build && cmake --build build', test: 'ctest --test-dir build' },
  ],
  [
    'meson.build',
    { build: 'meson setup build && meson compile -C build', test: 'meson test -C build' },
  ],
]

const readOthers: ManifestReader = (survey) => {
  for (const [file, commands] of COMMANDS_BY_FILE)
    if (survey.has(file)) survey.addCommands(file, commands)
  const solution = survey.namesIn('').find((name) => /\.(?:sln|slnx|csproj|fsproj)$/.test(name))
  if (solution !== undefined)
    survey.addCommands(solution, { build: 'dotnet build', test: 'dotnet test' })
}

const MAKE_KINDS = [
  ['make', 'GNUmakefile Makefile makefile', /^([A-Za-z0-9][\w.-]*)\s*:(?![=:])/],
  ['just', 'justfile Justfile .justfile', /^@?([A-Za-z][\w-]*)(?:\s+[^:]*)?:(?!=)/],
  ['task', 'Taskfile.yml Taskfile.yaml', /^ {2}([A-Za-z][\w:-]*):\s*$/],
] as const
const MAX_TARGETS = 12

const readMake: ManifestReader = (survey) => {
  for (const [run, files, target] of MAKE_KINDS) {
    const from = files.split(' ').find(survey.has)
    if (from === undefined) continue
    const names = survey
      .text(from)
      .split('\n')
      .flatMap((line) => target.exec(line)?.[1] ?? [])
    const others = survey.addNamedCommands(names, `${run} `, from)
    // A target with a dot is an intermediate file.
    for (const name of others.filter((each) => !each.includes('.')).slice(0, MAX_TARGETS))
      survey.addFact('scripts', `${run} ${name}`, from)
  }
}

const READERS: readonly ManifestReader[] = [
  readPackageJson,
  readPython,
  readCargo,
  readGo,
  readMaven,
  readGradle,
  readComposer,
  readDeno,
  readOthers,
  readMake,
]

export function readManifests(survey: FolderSurvey): void {
  for (const read of READERS) read(survey)
}

function readToml(source: string) {
  const tables = new Map<string, Map<string, string>>([['', new Map()]])
  let table = tables.get('')!
  let open: string | undefined
  for (const line of source.split(/\r?\n/)) {
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/.exec(line)
    const setting = /^\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=\s*(.*)$/.exec(line)
    if (open !== undefined) {
      open = `${open}\n${line}`
      if (isClosed(open)) open = undefined
    } else if (header !== null) {
      const name = header[1]!.replaceAll(/["'\s]/g, '')
      table = tables.get(name) ?? new Map<string, string>()
      tables.set(name, table)
    } else if (setting !== null) {
      table.set(setting[1]!.replace(/^(["'])(.*)\1$/, '$2'), setting[2]!)
      if (!isClosed(setting[2]!)) open = setting[2]!
    }
  }
  return {
    /** Full names such as `tool.ruff`. */
    tables: [...tables.keys()].filter((name) => name !== ''),
    text: (name: string, key: string) => {
      const value = tables.get(name)?.get(key) ?? ''
      const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/.exec(value) ?? []
      return double ?? single
    },
    keys: (name: string) => [...(tables.get(name)?.keys() ?? [])],
  }
}

/** Only lists continue on the next line. */
function isClosed(value: string) {
  if (!value.trimStart().startsWith('[')) return true
  const unquoted = value.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'|#.*$/gm, '')
  return unquoted.split('[').length <= unquoted.split(']').length
}
