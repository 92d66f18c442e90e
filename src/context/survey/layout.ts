// The folders that matter, with what they are.
import type { Finding, Look } from './finding.ts'
import { byCount, isForeign } from './languages.ts'
import { type Folder, whereItBranches } from './tree.ts'

/** What folders of these names are, whoever named them. */
const KNOWN: Readonly<Record<string, string>> = {
  src: 'source',
  source: 'source',
  lib: 'source',
  libs: 'libraries',
  app: 'application',
  apps: 'applications',
  core: 'source',
  cmd: 'programs',
  bin: 'programs',
  internal: 'source, internal',
  pkg: 'source, public',
  include: 'headers',
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
  api: 'API',
  test: 'tests',
  tests: 'tests',
  spec: 'tests',
  specs: 'tests',
  __tests__: 'tests',
  e2e: 'end-to-end tests',
  testdata: 'test data',
  itest: 'integration tests',
  fixtures: 'fixtures',
  testing: 'tests',
  fuzz: 'fuzzing',
  doc: 'documentation',
  docs: 'documentation',
  examples: 'examples',
  example: 'examples',
  samples: 'examples',
  demo: 'examples',
  script: 'scripts',
  scripts: 'scripts',
  tools: 'tools',
  hack: 'scripts',
  ci: 'CI',
  build: 'build files',
  cmake: 'build files',
  bench: 'benchmarks',
  benches: 'benchmarks',
  benchmark: 'benchmarks',
  benchmarks: 'benchmarks',
  config: 'configuration',
  configs: 'configuration',
  deploy: 'deployment',
  deployment: 'deployment',
  infra: 'infrastructure',
  terraform: 'infrastructure',
  k8s: 'infrastructure',
  helm: 'infrastructure',
  charts: 'infrastructure',
  docker: 'containers',
  migrations: 'migrations',
  db: 'database',
  database: 'database',
  sql: 'database',
  schema: 'schemas',
  schemas: 'schemas',
  proto: 'protocol',
  protos: 'protocol',
  public: 'static files',
  static: 'static files',
  assets: 'assets',
  resources: 'resources',
  styles: 'styles',
  locales: 'translations',
  i18n: 'translations',
  types: 'types',
  typings: 'types',
  vendor: 'vendored',
  dist: 'build output',
  third_party: 'vendored',
}

const MOST = 14
const MOST_INSIDE = 24

/** The folders at the root, those with most code first, each with what lies in it. */
export function layoutFindings({ tree }: Look): readonly Finding[] {
  const folders = [...tree.folders.values()].filter(({ name }) => !name.startsWith('.'))
  return folders
    .toSorted((a, b) => weight(b) - weight(a) || (a.name < b.name ? -1 : 1))
    .slice(0, MOST)
    .map((folder) => ({ topic: 'layout', text: describe(folder), from: 'git ls-files' }))
}

/** Code counts before anything else, that of the project itself before what tries and shows it, and what others wrote not at all. */
function weight(folder: Folder): number {
  if (isForeign(folder.path)) return -1
  const isBeside = BESIDE.test(KNOWN[folder.name.toLowerCase()] ?? folder.name)
  return (codeIn(folder) * 1000 + Math.min(999, folder.files)) * (isBeside ? 1 : 1000)
}

const BESIDE = /test|examples|benchmarks|documentation|fixtures|scripts|tools|build/

function codeIn({ languages }: Folder): number {
  return [...languages.values()].reduce((sum, count) => sum + count, 0)
}

function describe(folder: Folder): string {
  const branch = whereItBranches(folder)
  const is = KNOWN[folder.name.toLowerCase()] ?? KNOWN[branch.name.toLowerCase()]
  const [main] = byCount(folder.languages)
  const facts = [is, main?.[0], `${folder.files} ${folder.files === 1 ? 'file' : 'files'}`].filter(
    (fact) => fact !== undefined,
  )
  const inside = is?.includes('tests') === true ? [] : insideOf(branch)
  return `${branch.path}/ (${facts.join(', ')})${inside.length === 0 ? '' : `: ${inside.join(' ')}`}`
}

/** The folders inside that hold code, by name; those of a folder without code say nothing. */
function insideOf(folder: Folder): readonly string[] {
  const inside = [...folder.folders.values()].filter(
    (each) => codeIn(each) > 0 && !each.name.startsWith('.'),
  )
  if (inside.length < 2) return []
  const most = inside
    .toSorted((a, b) => codeIn(b) - codeIn(a) || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_INSIDE)
  return most.map(({ name }) => name).toSorted()
}
