// Tools whose commands are the same in every project that has their manifest.
import type { Command, Finding, Look, Purpose, Told } from './finding.ts'
import { isObject } from './sources.ts'
import { purposesOf } from './finding.ts'
import { readToml } from './toml.ts'

type Reader = (look: Look) => Told

const NOTHING: Told = { findings: [], commands: [] }

function always(from: string, commands: Partial<Record<Purpose, string>>): readonly Command[] {
  return Object.entries(commands).map(([purpose, command]) => ({
    purpose: purpose as Purpose,
    command,
    from,
  }))
}

const readCargo: Reader = ({ listing, sources }) => {
  const from = 'Cargo.toml'
  if (!listing.has(from)) return NOTHING
  const toml = readToml(sources.text(from) ?? '')
  const name = [toml.text('package', 'name'), toml.text('package', 'description')].filter(
    (word) => word !== undefined,
  )
  const version =
    toml.text('package', 'rust-version') ?? toml.text('workspace.package', 'rust-version')
  const findings: readonly Finding[] = [
    ...(name.length === 0 ? [] : [{ topic: 'project', text: name.join(': '), from } as const]),
    ...(version === undefined ? [] : [{ topic: 'needs', text: `Rust ${version}`, from } as const]),
  ]
  const all = toml.tables.includes('workspace') ? ' --workspace' : ''
  const commands = {
    build: `cargo build${all}`,
    test: `cargo test${all}`,
    lint: `cargo clippy${all}`,
    format: 'cargo fmt',
  }
  return { findings, commands: always(from, commands) }
}

const readGo: Reader = ({ listing, sources }) => {
  const from = 'go.mod'
  if (!listing.has(from)) return NOTHING
  const text = sources.text(from) ?? ''
  const name = /^module\s+(\S+)/m.exec(text)?.[1]
  const version = /^go\s+(\S+)/m.exec(text)?.[1]
  const linter = ['.golangci.yml', '.golangci.yaml', '.golangci.toml', '.golangci.json'].find(
    listing.has,
  )
  const findings: readonly Finding[] = [
    ...(name === undefined ? [] : [{ topic: 'project', text: `Go module ${name}`, from } as const]),
    ...(version === undefined ? [] : [{ topic: 'needs', text: `Go ${version}`, from } as const]),
  ]
  const commands = always(from, {
    build: 'go build ./...',
    test: 'go test ./...',
    lint: 'go vet ./...',
    format: 'gofmt -w .',
  })
  return {
    findings,
    commands:
      linter === undefined
        ? commands
        : [...commands, ...always(linter, { lint: 'golangci-lint run' })],
  }
}

const readMaven: Reader = ({ listing, sources }) => {
  const from = 'pom.xml'
  if (!listing.has(from)) return NOTHING
  const run = listing.has('mvnw') ? './mvnw' : 'mvn'
  const own = (sources.text(from) ?? '').replace(/<parent>[\s\S]*?<\/parent>/, '')
  const name = /<artifactId>\s*([^<]+?)\s*<\/artifactId>/.exec(own)?.[1]
  const version =
    /<(?:maven\.compiler\.release|maven\.compiler\.source|java\.version)>\s*([\d.]+)/.exec(own)?.[1]
  const findings: readonly Finding[] = [
    ...(name === undefined ? [] : [{ topic: 'project', text: name, from } as const]),
    ...(version === undefined ? [] : [{ topic: 'needs', text: `Java ${version}`, from } as const]),
  ]
  return {
    findings,
    commands: always(from, {
      build: `${run} package`,
      test: `${run} test`,
      check: `${run} verify`,
    }),
  }
}

const readGradle: Reader = ({ listing, sources }) => {
  const from = ['build.gradle.kts', 'build.gradle', 'settings.gradle.kts', 'settings.gradle'].find(
    listing.has,
  )
  if (from === undefined) return NOTHING
  const run = listing.has('gradlew') ? './gradlew' : 'gradle'
  const settings = ['settings.gradle.kts', 'settings.gradle'].find(listing.has)
  const name =
    settings === undefined
      ? undefined
      : /rootProject\.name\s*=\s*["']([^"']+)/.exec(sources.text(settings) ?? '')?.[1]
  const findings: readonly Finding[] =
    name === undefined ? [] : [{ topic: 'project', text: name, from: settings! }]
  return {
    findings,
    commands: always(from, { build: `${run} build`, test: `${run} test`, check: `${run} check` }),
  }
}

const readComposer: Reader = ({ sources }) => {
  const from = 'composer.json'
  const manifest = sources.json(from)
  if (manifest === undefined) return NOTHING
  const scripts = isObject(manifest.scripts) ? manifest.scripts : {}
  const { name, description } = manifest
  const words = [name, description].filter((word) => typeof word === 'string' && word !== '')
  const commands = purposesOf(Object.keys(scripts)).map(([purpose, script]): Command => {
    const runs = scripts[script]
    return {
      purpose,
      command: `composer ${script}`,
      from,
      ...(typeof runs === 'string' ? { runs } : {}),
    }
  })
  return {
    findings: words.length === 0 ? [] : [{ topic: 'project', text: words.join(': '), from }],
    commands,
  }
}

const readDeno: Reader = ({ listing, sources }) => {
  const from = ['deno.json', 'deno.jsonc'].find(listing.has)
  if (from === undefined) return NOTHING
  const tasks = sources.json(from)?.tasks
  const commands = purposesOf(isObject(tasks) ? Object.keys(tasks) : [])
  return {
    findings: [],
    commands: commands.map(([purpose, name]) => ({ purpose, command: `deno task ${name}`, from })),
  }
}

/** The rest, which say nothing but that they are there. */
const BY_FILE: readonly (readonly [file: string, commands: Partial<Record<Purpose, string>>])[] = [
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

const readOthers: Reader = ({ listing }) => {
  const solution = listing.in('').find((name) => /\.(?:sln|slnx|csproj|fsproj)$/.test(name))
  const commands = [
    ...BY_FILE.flatMap(([file, given]) => (listing.has(file) ? always(file, given) : [])),
    ...(solution === undefined
      ? []
      : always(solution, { build: 'dotnet build', test: 'dotnet test' })),
  ]
  return { findings: [], commands }
}

export const CONVENTIONAL: readonly Reader[] = [
  readCargo,
  readGo,
  readMaven,
  readGradle,
  readComposer,
  readDeno,
  readOthers,
]
