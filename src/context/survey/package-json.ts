import { type Command, type Finding, type Look, type Told, purposesOf } from './finding.ts'
import { isObject } from './sources.ts'

const MANAGERS = [
  { name: 'pnpm', lock: 'pnpm-lock.yaml', run: 'pnpm' },
  { name: 'yarn', lock: 'yarn.lock', run: 'yarn' },
  { name: 'bun', lock: 'bun.lock', run: 'bun run' },
  { name: 'bun', lock: 'bun.lockb', run: 'bun run' },
  { name: 'npm', lock: 'package-lock.json', run: 'npm run' },
  { name: 'npm', lock: 'npm-shrinkwrap.json', run: 'npm run' },
] as const

const RUN: Readonly<Record<string, string>> = Object.fromEntries(
  MANAGERS.map(({ name, run }) => [name, run]),
)

const MOST_OTHERS = 20

/** What a `package.json` says: its scripts, its package manager, what it needs. */
export function readPackageJson(look: Look): Told {
  const from = 'package.json'
  const manifest = look.sources.json(from)
  if (manifest === undefined) return { findings: [], commands: [] }
  const manager = managerOf(look, manifest)
  const scripts = scriptsOf(manifest)
  const purposes = purposesOf(scripts.keys())
  const run = (name: string) => scriptCommand(manager.name, name)
  const used = new Set(purposes.map(([, name]) => name))
  const others = [...scripts.keys()].filter((name) => !used.has(name) && !isAround(name, scripts))
  const found = (topic: Finding['topic'], text: string, at = from): Finding => ({
    topic,
    text,
    from: at,
  })
  return {
    findings: [
      ...identity(manifest, from),
      found('conventions', manager.text, manager.from ?? from),
      ...engines(manifest).map((text) => found('needs', text)),
      ...others.slice(0, MOST_OTHERS).map((name) => found('scripts', run(name))),
    ],
    commands: purposes.map(([purpose, name]): Command => ({
      purpose,
      command: run(name),
      runs: scripts.get(name)!,
      from,
    })),
  }
}

/** The names of everything a `package.json` depends on. */
export function dependenciesOf(look: Look): ReadonlySet<string> {
  const manifest = look.sources.json('package.json') ?? {}
  const groups = [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies]
  return new Set(groups.flatMap((group) => (isObject(group) ? Object.keys(group) : [])))
}

function identity(
  { name, description }: Readonly<Record<string, unknown>>,
  from: string,
): readonly Finding[] {
  const words = [name, description].filter(
    (word): word is string => typeof word === 'string' && word.trim() !== '',
  )
  return words.length === 0 ? [] : [{ topic: 'project', text: words.join(': '), from }]
}

function managerOf(look: Look, { packageManager }: Readonly<Record<string, unknown>>) {
  const named =
    typeof packageManager === 'string' ? /^(npm|pnpm|yarn|bun)@(\d+)?/.exec(packageManager) : null
  if (named !== null) {
    const version = named[2] === undefined ? '' : ` ${named[2]}`
    return { name: named[1]!, text: `package manager ${named[1]}${version}` }
  }
  const locked = MANAGERS.find(({ lock }) => look.listing.has(lock))
  if (locked === undefined) return { name: 'npm', text: 'package manager npm (no lock file)' }
  return { name: locked.name, text: `package manager ${locked.name}`, from: locked.lock }
}

function scriptsOf({ scripts }: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  if (!isObject(scripts)) return new Map()
  const given = Object.entries(scripts).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  // What npm itself put there says that there are none.
  return new Map(given.filter(([, body]) => !body.includes('no test specified')))
}

function scriptCommand(manager: string, name: string): string {
  if (manager === 'npm' && (name === 'test' || name === 'start')) return `npm ${name}`
  return `${RUN[manager] ?? 'npm run'} ${name}`
}

/** `prebuild` runs with `build`, and nobody calls it. */
function isAround(name: string, scripts: ReadonlyMap<string, string>): boolean {
  const around = /^(?:pre|post)(.+)$/.exec(name)
  return (
    around !== null &&
    (scripts.has(around[1]!) || /^(?:install|publish|pack|version)$/.test(around[1]!))
  )
}

function engines({ engines: given }: Readonly<Record<string, unknown>>): readonly string[] {
  const node = isObject(given) ? given.node : undefined
  return typeof node === 'string' ? [`Node ${node}`] : []
}
