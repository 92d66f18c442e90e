// What the user agreed to, kept outside the project. Hooks load this file, so it needs neither
// hashes nor the rules of the configuration.
import { dirname, join, resolve } from 'node:path'
import { checksum } from '../../journal/record.ts'
import {
  readJson,
  readOrUndefined,
  readTextOrUndefined,
  statOrUndefined,
} from '../../journal/read-files.ts'
import { stateHome } from '../../journal/state-home.ts'
import { createFolder, replaceFile, writeOnce } from '../../journal/write-files.ts'
import { randomHex } from '../../journal/ids.ts'
import { defined } from '../../text/defined.ts'

export interface Consent {
  /** The checksum in the file's name is short, so the folder it is about is compared too. */
  readonly root: string
  readonly at: string
  /** Hashes of the agreed configuration values by key; a value that is not among them needs a new consent. */
  readonly values: Readonly<Record<string, string>>
  /** Hashes of the verify commands of tasks. */
  readonly verify: readonly string[]
  /** Hashes of the texts of tasks from elsewhere, and of this machine's own tasks in a shared journal. */
  readonly tasks?: readonly string[]
  /** Journals that came with the repository may be used; their tasks are agreed to one by one. */
  readonly journals: boolean
  /** Also kept in the project, out of a clone's reach: another folder at the same path is another project. */
  readonly token?: string
}

export function readConsent(root: string): Consent | undefined {
  const consent = readJson(consentPath(root)) as Consent | undefined
  if (consent?.root !== root || consent.token === undefined) return undefined
  return consent.token === readToken(root) ? consent : undefined
}

export function writeConsent(consent: Consent): void {
  const { root } = consent
  createFolder(join(stateHome(), 'trust'))
  const token = readToken(root) ?? writeToken(root)
  const kept = { ...consent, ...defined({ token }) }
  replaceFile(consentPath(root), `${JSON.stringify(kept, undefined, 2)}\n`)
}

function readToken(root: string): string | undefined {
  return readOrUndefined(tokenPath(root))?.toString('utf8')
}

function writeToken(root: string): string | undefined {
  const path = tokenPath(root)
  createFolder(dirname(path))
  writeOnce(path, randomHex(16))
  return readToken(root)
}

/** In the git directory; without one in `.sessions`, which is deleted with the folder. */
function tokenPath(root: string) {
  const dotGit = join(root, '.git')
  const kind = statOrUndefined(dotGit)
  if (kind?.isDirectory() === true) return join(dotGit, 'stint', 'trusted')
  const named = kind?.isFile() === true ? readTextOrUndefined(dotGit) : undefined
  const gitDir = /^gitdir: (.+?)[\r\n]*$/.exec(named ?? '')?.[1]
  return gitDir === undefined
    ? join(root, '.sessions', '.trusted')
    : join(resolve(root, gitDir), 'stint', 'trusted')
}

export function consentPath(root: string): string {
  return join(stateHome(), 'trust', `${checksum(Buffer.from(root))}.json`)
}

export function acceptsForeignJournals(root: string): boolean {
  return readConsent(root)?.journals === true
}

/** Where the logs that this machine created are listed if they can have no second name. */
export function ownMarkPath(root: string, id: string): string {
  return join(stateHome(), 'own', checksum(Buffer.from(root)), id)
}
