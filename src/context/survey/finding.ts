import type { Folder } from './tree.ts'

/** What can be said of a project, in the order in which it is said. */
export const TOPICS = [
  'project',
  'languages',
  'commands',
  'layout',
  'tests',
  'instructions',
  'conventions',
  'commits',
  'ci',
  'needs',
  'scripts',
] as const
export type Topic = (typeof TOPICS)[number]

/** One thing found out, and where. */
export interface Finding {
  readonly topic: Topic
  readonly text: string
  /** A path in the repository, or what git was asked. */
  readonly from: string
}

/** What a reader may look at: a repository, or a folder of it as if it were one. */
export interface Look {
  readonly listing: {
    readonly paths: readonly string[]
    readonly has: (path: string) => boolean
    /** The names of the tracked files right under a folder, `''` being the root. */
    readonly in: (folder: string) => readonly string[]
  }
  readonly tree: Folder
  readonly sources: {
    text(path: string): string | undefined
    json(path: string): Readonly<Record<string, unknown>> | undefined
  }
}

/** What a command is for. */
export const PURPOSES = ['build', 'test', 'lint', 'format', 'check', 'start'] as const
export type Purpose = (typeof PURPOSES)[number]

export interface Command {
  readonly purpose: Purpose
  readonly command: string
  /** What it runs, where that says more. */
  readonly runs?: string
  readonly from: string
}

/** What a manifest tells. */
export interface Told {
  readonly findings: readonly Finding[]
  readonly commands: readonly Command[]
}

/** A folder looked at as if it were the repository. */
export function within(look: Look, folder: string): Look {
  const at = (path: string) => (path === '' ? folder : `${folder}/${path}`)
  return {
    ...look,
    listing: {
      paths: look.listing.paths,
      has: (path) => look.listing.has(at(path)),
      in: (path) => look.listing.in(at(path)),
    },
    sources: {
      text: (path) => look.sources.text(at(path)),
      json: (path) => look.sources.json(at(path)),
    },
  }
}

/** The same as told from outside the folder. */
export function fromOutside({ findings, commands }: Told, folder: string): Told {
  const at = (from: string) => `${folder}/${from}`
  return {
    findings: findings.map((finding) => ({
      ...finding,
      text: `${folder}/: ${finding.text}`,
      from: at(finding.from),
    })),
    commands: commands.map((each) => ({
      ...each,
      command: `cd ${folder} && ${each.command}`,
      from: at(each.from),
    })),
  }
}

/** Names that scripts, targets and recipes go by, for each purpose; the first that there is counts. */
const NAMES: Readonly<Record<Purpose, readonly string[]>> = {
  build: ['build', 'compile', 'dist', 'bundle'],
  test: ['test', 'tests', 'unit', 'test:unit', 'test-unit'],
  lint: ['lint', 'eslint', 'clippy', 'vet'],
  format: ['format', 'fmt', 'prettier', 'fix'],
  check: ['check', 'typecheck', 'type-check', 'check-types', 'types', 'tsc', 'verify'],
  start: ['start', 'dev', 'serve', 'run', 'develop'],
}

/** The names among these that serve a purpose, each with it. */
export function purposesOf(names: Iterable<string>): readonly (readonly [Purpose, string])[] {
  const known = new Set(names)
  return PURPOSES.flatMap((purpose) => {
    const name = NAMES[purpose].find((each) => known.has(each))
    return name === undefined ? [] : [[purpose, name] as const]
  })
}
