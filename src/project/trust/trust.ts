// What came with the repository and needs the user's agreement on this machine, and giving it.
import { readRepositoryFile } from '../../context/read-repository-file.ts'
import { listFolder, readOrUndefined } from '../../journal/read-files.ts'
import { join } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { isOwnLog } from '../../journal/log.ts'
import { removeFile } from '../../journal/write-files.ts'
import { ancestorProcesses } from '../../harness/process/agent-ancestor.ts'
import { agentByProgram, agentInEnv, findHarness } from '../../harness/registry.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { readEffectValues } from '../config/read-config.ts'
import { type ProjectPaths, logIds, logPaths } from '../store/project-paths.ts'
import { runFromEnv } from '../store/run-environment.ts'
import type { Workspace } from '../store/workspace.ts'
import { type Consent, consentPath, readConsent, writeConsent } from '../config/consent.ts'
import { type EffectValues, hashOf, notAgreed } from '../config/effects.ts'

export interface TrustItem {
  readonly kind: 'setting' | 'verify' | 'profile' | 'template' | 'task' | 'journals'
  /** The setting, the task, the file, or what the journals are. */
  readonly name: string
  readonly value?: unknown
  readonly status: 'agreed' | 'changed' | 'new'
}

export interface TrustReview {
  readonly root: string
  readonly isAgreed: boolean
  readonly items: readonly TrustItem[]
}

/** Everything that needs consent. Reads only. */
export function reviewTrust({ paths }: Workspace, { tasks: all }: Backlog): TrustReview {
  const consent = readConsent(paths.root)
  const settings = items('setting', readEffectValues(paths), consent)
  const files = [
    ...items('profile', filesIn(paths.root, PROFILE_FOLDERS), consent),
    ...items('template', filesIn(paths.root, TEMPLATE_FOLDERS), consent),
  ]
  const tasks = all.filter(isTaskOpen).flatMap(({ verify, shortname }): TrustItem[] =>
    verify === undefined
      ? []
      : [
          {
            kind: 'verify',
            name: shortname,
            value: verify,
            status: statusOf(isAgreedVerify(paths, verify)),
          },
        ],
  )
  const texts = all.filter(isForeignTask).map((task): TrustItem => ({
    kind: 'task',
    name: task.shortname,
    value: taskContent(task),
    status: statusOf(isAgreedTask(paths, task)),
  }))
  const found = [...settings, ...files, ...tasks, ...texts, ...journalItems(paths, consent)]
  return {
    root: paths.root,
    isAgreed: found.every(({ status }) => status === 'agreed'),
    items: found,
  }
}

/** The values of settings, profiles and templates as they are now, by key or file. */
export function valuesToAgreeTo(paths: Pick<ProjectPaths, 'root' | 'sessions'>): EffectValues {
  return {
    ...readEffectValues(paths),
    ...filesIn(paths.root, [...PROFILE_FOLDERS, ...TEMPLATE_FOLDERS]),
  }
}

/** Agrees to what `shown` lists and to nothing that changed since. */
export function grantTrust(
  workspace: Workspace,
  backlog: Backlog,
  shown: TrustReview = reviewTrust(workspace, backlog),
): TrustReview {
  refuseAgent(workspace, 'agreeing to what a repository brings')
  const { paths } = workspace
  const before = readConsent(paths.root)
  const hashesOf = (wanted: TrustItem['kind']) =>
    shown.items.filter(({ kind }) => kind === wanted).map(({ value }) => hashOf(value))
  const values = shown.items.filter(({ kind }) => !NO_VALUES.has(kind))
  writeConsent({
    root: paths.root,
    at: new Date().toISOString(),
    values: Object.fromEntries(values.map(({ name, value }) => [name, hashOf(value)])),
    verify: [...new Set([...(before?.verify ?? []), ...hashesOf('verify')])],
    tasks: [...new Set([...(before?.tasks ?? []), ...hashesOf('task')])],
    journals: true,
  })
  workspace.forgetConfig()
  return reviewTrust(workspace, backlog)
}

const NO_VALUES: ReadonlySet<string> = new Set(['verify', 'task', 'journals'])

export function withdrawTrust(workspace: Workspace): boolean {
  const { root } = workspace.paths
  const isGiven = readConsent(root) !== undefined && removeFile(consentPath(root))
  workspace.forgetConfig()
  return isGiven
}

/** Before anything is run that a configuration or a backlog from elsewhere decides. */
export function requireConsent(workspace: Workspace, tasks: readonly Task[] = []): void {
  const { paths, config } = workspace
  const commands = tasks.flatMap(({ verify, shortname }) =>
    verify === undefined || isAgreedVerify(paths, verify)
      ? []
      : [`the verify command of ${shortname}`],
  )
  const texts = tasks
    .filter((task) => isForeignTask(task) && !isAgreedTask(paths, task))
    .map(({ shortname }) => `the text of ${shortname}`)
  const needed = [...config.withheld, ...commands, ...texts]
  if (needed.length > 0) throw new NeedsConsent(paths.root, needed)
}

export class NeedsConsent extends StintError {
  override readonly name = 'NeedsConsent'
  constructor(root: string, needed: readonly string[]) {
    const shown = needed.slice(0, 8).join(', ')
    const more = needed.length > 8 ? ` and ${needed.length - 8} more` : ''
    super(
      'NEEDS_CONSENT',
      `you have not agreed on this machine to ${shown}${more} of ${root}`,
      'stint trust shows the values and asks; stint trust --yes agrees in a script',
    )
  }
}

/** Commands that the user typed count as agreed; an agent must not decide what runs unasked. */
export function agreeToVerify(workspace: Workspace, command: string): void {
  const { paths } = workspace
  if (isAgreedVerify(paths, command)) return
  refuseAgent(workspace, 'setting a verify command')
  const consent = readConsent(paths.root)
  const verify = [...(consent?.verify ?? []), hashOf(command)]
  const rest = { at: new Date().toISOString(), values: {}, journals: false }
  writeConsent({ ...rest, ...consent, root: paths.root, verify })
}

export function isAgreedVerify({ root }: Pick<ProjectPaths, 'root'>, command: string): boolean {
  return readConsent(root)?.verify.includes(hashOf(command)) === true
}

/** What an agent is given of a task. A change of it is a new text; the verify command has a consent of its own. */
export function taskContent(task: Task): EffectValues {
  const { title, description, details, checklist, extra, labels, assignee } = task
  const items = checklist.map(({ item }) => item)
  return { title, description, details, checklist: items, extra, labels, assignee: assignee ?? '' }
}

export function isAgreedTask({ root }: Pick<ProjectPaths, 'root'>, task: Task): boolean {
  return readConsent(root)?.tasks?.includes(hashOf(taskContent(task))) === true
}

/** For a task that was written on this machine. */
export function agreeToTask({ paths: { root } }: Workspace, task: Task): void {
  const consent = readConsent(root)
  const tasks = [...(consent?.tasks ?? []), hashOf(taskContent(task))]
  const rest = { at: new Date().toISOString(), values: {}, verify: [], journals: false }
  writeConsent({ ...rest, ...consent, root, tasks })
}

function isForeignTask(task: Task): boolean {
  return isTaskOpen(task) && task.isFromElsewhere === true
}

interface GivenSettings {
  readonly verify?: string
  readonly harness?: string
  readonly permissions?: string
}

/** An agent may start work with what the user agreed to, and with nothing else that decides what runs. */
export function refuseSettingsOfAgent(
  workspace: Workspace,
  { verify, harness, permissions }: GivenSettings,
): void {
  const { config, paths } = workspace
  const isCommand = findHarness(harness ?? '')?.argument?.isRequired !== undefined
  const set = [
    ...(verify === undefined || verify === config.verify || isAgreedVerify(paths, verify)
      ? []
      : ['--verify']),
    ...(isCommand && harness !== config.run.harness ? ['--harness'] : []),
    ...(permissions === 'all' && config.run.permissions !== 'all' ? ['--permissions all'] : []),
  ]
  if (set.length > 0) refuseAgent(workspace, `setting ${set.join(', ')}`)
}

/** Whether the user agreed to a profile or template as it is now. */
export function isAgreedFile(root: string, name: string, text: string): boolean {
  return readConsent(root)?.values[name] === hashOf(text)
}

export function refuseAgent({ env }: { env: NodeJS.ProcessEnv }, action: string): void {
  const agent = agentWith(env) ?? (env === process.env ? agentAmongAncestors() : undefined)
  if (agent === undefined) return
  throw new StintError(
    'IN_AGENT',
    `${action} is the user's decision, and this command runs inside ${agent}`,
    'ask the user to run it in a terminal of their own',
  )
}

function agentWith(env: NodeJS.ProcessEnv): string | undefined {
  return runFromEnv(env) === undefined ? agentInEnv(env) : 'the agent of a run'
}

/** An agent can start a command without its variables. This makes it harder, and cannot prevent it: a program that runs as the user can do what the user can. */
function agentAmongAncestors(): string | undefined {
  for (const { env, program } of ancestorProcesses()) {
    const agent = agentWith(env) ?? agentByProgram(program)
    if (agent !== undefined) return agent
  }
  return undefined
}

const PROFILE_FOLDERS = ['.agents', '.claude/agents']
const TEMPLATE_FOLDERS = ['.sessions/workflows']

function items(
  kind: TrustItem['kind'],
  values: EffectValues,
  consent: Consent | undefined,
): readonly TrustItem[] {
  const missing = new Set(notAgreed(values, consent))
  return Object.entries(values).map(([name, value]) => ({
    kind,
    name,
    value,
    status: missing.has(name)
      ? consent?.values[name] === undefined
        ? 'new'
        : 'changed'
      : 'agreed',
  }))
}

function statusOf(isAgreed: boolean) {
  return isAgreed ? 'agreed' : 'new'
}

function filesIn(root: string, folders: readonly string[]): Readonly<Record<string, string>> {
  const names = folders.flatMap((folder) =>
    listFolder(join(root, folder))
      .filter((name) => /\.(?:md|ya?ml)$/i.test(name))
      .map((name) => `${folder}/${name}`),
  )
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(root, name)
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

/** As it is read for use: no link in `.sessions` is followed, and none elsewhere that leads out of the project. */
function textOf(root: string, name: string): string | undefined {
  if (name.startsWith('.sessions/')) return readOrUndefined(join(root, name))?.toString('utf8')
  const found = readRepositoryFile(root, name)
  return typeof found === 'string' ? undefined : found.text
}

function journalItems(paths: ProjectPaths, consent: Consent | undefined): readonly TrustItem[] {
  const foreign = [...logIds(paths)].filter((id) => !isOwnLog(logPaths(paths, id)))
  const sessions = foreign.filter((id) => id !== BACKLOG_ID).length
  const isBacklogForeign = foreign.includes(BACKLOG_ID)
  const status = statusOf(consent?.journals === true)
  return [
    ...(sessions === 0
      ? []
      : [{ kind: 'journals' as const, name: 'sessions', value: sessions, status } as const]),
    ...(isBacklogForeign ? [{ kind: 'journals' as const, name: 'tasks', status } as const] : []),
  ]
}
