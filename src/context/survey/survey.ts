// What a repository is, read from git's listing of it and from a few manifests. Nothing in it is run.
import type { Repository } from '../../git/repository.ts'
import { ciFindings } from './ci.ts'
import { CONVENTIONAL } from './conventional.ts'
import { readMake } from './make.ts'
import { readPackageJson } from './package-json.ts'
import { readPython } from './python.ts'
import { commitFindings, lastSubjects } from './commits.ts'
import { conventionFindings, instructionFindings } from './conventions.ts'
import {
  type Command,
  type Finding,
  type Look,
  PURPOSES,
  type Told,
  fromOutside,
  within,
} from './finding.ts'
import { languageFindings } from './language-shares.ts'
import { isOwn } from './languages.ts'
import { layoutFindings } from './layout.ts'
import type { Listing } from './listing.ts'
import type { Sources } from './sources.ts'
import { testFindings } from './tests.ts'
import { treeOf } from './tree.ts'

/** Everything there is to say, topic by topic. */
export function survey(
  repository: Repository,
  listing: Listing,
  sources: Sources,
): readonly Finding[] {
  const look: Look = { listing, sources, tree: treeOf(listing.paths) }
  const { findings, commands } = manifests(look)
  return [
    ...findings,
    ...languageFindings(look),
    ...commandFindings(commands),
    ...layoutFindings(look),
    ...testFindings(look),
    ...instructionFindings(look),
    ...conventionFindings(look),
    ...commitFindings(lastSubjects(repository)),
    ...ciFindings(look),
  ]
}

const READERS: readonly ((look: Look) => Told)[] = [
  readPackageJson,
  readPython,
  ...CONVENTIONAL,
  readMake,
]

const MANIFEST =
  /(?:^|\/)(?:package\.json|pyproject\.toml|setup\.py|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|composer\.json|mix\.exs|Makefile)$/
const DEEPEST = 2
const MOST_FOLDERS = 3

/** What the manifests at the root say; where there are none, those of the folders nearest to it. */
function manifests(look: Look): Told {
  const root = readAll(look)
  if (root.commands.length > 0) return root
  const inside = foldersWithManifest(look).map((folder) =>
    fromOutside(readAll(within(look, folder)), folder),
  )
  return together([root, ...inside])
}

function foldersWithManifest({ listing }: Look): readonly string[] {
  const folders = listing.paths
    .filter((path) => MANIFEST.test(path) && path.includes('/'))
    .map((path) => path.slice(0, path.lastIndexOf('/')))
  const depth = (folder: string) => folder.split('/').length
  return [...new Set(folders)]
    .filter((folder) => depth(folder) <= DEEPEST && isOwn(folder))
    .toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
    .slice(0, MOST_FOLDERS)
}

function readAll(look: Look): Told {
  return together(READERS.map((read) => read(look)))
}

function together(told: readonly Told[]): Told {
  return {
    findings: told.flatMap(({ findings }) => findings),
    commands: told.flatMap(({ commands }) => commands),
  }
}

/** A line for each purpose: `test: npm test (vitest run); make test`. */
function commandFindings(commands: readonly Command[]): readonly Finding[] {
  return PURPOSES.flatMap((purpose) => {
    const serving = commands.filter((command) => command.purpose === purpose)
    if (serving.length === 0) return []
    const words = serving.map(({ command, runs }) =>
      runs === undefined || runs === command ? command : `${command} (${runs})`,
    )
    return [
      {
        topic: 'commands',
        text: `${purpose}: ${words.join('; ')}`,
        from: [...new Set(serving.map(({ from }) => from))].join(', '),
      },
    ]
  })
}
