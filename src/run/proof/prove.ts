import { join } from 'node:path'
import { gitSucceeds, runGit } from '../../git/run-git.ts'
import { isSecretFile } from '../../git/secret-files.ts'
import { isTracked } from '../../git/status.ts'
import { StintError } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/read-files.ts'
import type { Task } from '../../backlog/task.ts'
import { describeProtected } from './protected-paths.ts'
import { abbreviateList } from '../worktree/remove-worktree.ts'
import { areAllAutoCommits } from '../worktree/rollback.ts'
import {
  commitsSince,
  describeHead,
  hiddenPaths,
  readTreeHead,
  requireHead,
  uncommittedPaths,
} from '../worktree/run-tree.ts'
import { spawnGuarded } from '../../harness/process/spawn-guarded.ts'

export type Proof =
  | { readonly isDone: true; readonly commit: string; readonly verify?: VerifyResult }
  | { readonly isDone: false; readonly reasons: readonly string[]; readonly verify?: VerifyResult }

/** Label of a task that needs no commit, such as a question. */
const NO_COMMIT = 'no-commit'

export interface ProofOptions {
  readonly tree: string
  readonly branch: string
  readonly base: string
  readonly leftBefore: readonly string[]
  readonly verify: string | undefined
  readonly verifyMs: number
  readonly env: NodeJS.ProcessEnv
  readonly isStopped: AbortSignal
  readonly onVerify: (command: string) => void
  /** A commit the branch must contain. */
  readonly contains?: string
  /** A path that must be committed. */
  readonly produces?: string
  /** The report of a task that changes nothing else. */
  readonly report?: string
  /** Protected paths that HEAD changes and the user has not agreed to. */
  readonly findProtected: (head: string) => Promise<readonly string[]>
}

/** Whether a task is done: on its branch, committed, its checklist ticked, and the verify command green. Cheap checks come first. */
export async function prove(task: Task, options: ProofOptions): Promise<Proof> {
  const { report, tree, onVerify: verifying } = options
  const reasons =
    report === undefined
      ? [...findWorkProblems(task, options), ...findOpenItems(task)]
      : findReportProblems(report, options)
  if (reasons.length > 0) return { isDone: false, reasons }
  const { commit } = requireHead(tree)
  // Before the verify command, which may read these files.
  const found = report === undefined ? await options.findProtected(commit) : []
  if (found.length > 0) {
    const restore = `git checkout ${options.base.slice(0, 10)} -- PATH`
    const what = `take these changes back (${restore}, or git rm), as only the user may agree to them`
    return { isDone: false, reasons: [`${describeProtected(found)}; ${what}`] }
  }
  const command = report === undefined ? (task.verify ?? options.verify) : undefined
  if (command === undefined) return { isDone: true, commit }
  verifying(command)
  const verify = await runVerify(command, options)
  if (verify.isStopped) throw new StintError('STOPPED', 'the verify command was stopped')
  if (!verify.passed) return { isDone: false, reasons: [`${command} ${verify.ending}`], verify }
  // The command may have changed files, as a formatter does, and then what was verified is not what is committed.
  const after = findWorkProblems(task, options).map((reason) => `after ${command}: ${reason}`)
  if (after.length > 0) return { isDone: false, reasons: after, verify }
  if (readTreeHead(tree)?.commit !== commit)
    return { isDone: false, reasons: [`${command} moved the branch`], verify }
  return { isDone: true, commit, verify }
}

function findReportProblems(
  report: string,
  { tree, branch, base }: ProofOptions,
): readonly string[] {
  const head = readTreeHead(tree)
  if (head?.branch !== branch) return [`HEAD is on ${describeHead(head)} and not on ${branch}`]
  if (head.commit !== base) return ['it is only to read and report, and has committed']
  const dirty = uncommittedPaths(tree)
  const changed = dirty.filter((path) => path !== report)
  if (changed.length > 0)
    return [`it is only to read and report, and has changed: ${abbreviateList(changed, 8)}`]
  const isThere = (statOrUndefined(join(tree, report))?.size ?? 0) > 0
  // A report that existed before does not count.
  const isOld = !dirty.includes(report) && isInHead(tree, report)
  return isThere && !isOld ? [] : [`there is no report of it in ${report}`]
}

function findWorkProblems(
  { labels, verify: ownVerify }: Task,
  { tree, branch, base, leftBefore, contains, produces, verify }: ProofOptions,
): readonly string[] {
  const head = readTreeHead(tree)
  if (head?.branch !== branch) return [`HEAD is on ${describeHead(head)} and not on ${branch}`]
  if (head.commit === undefined) return [`HEAD is on ${describeHead(head)}`]
  const { count, containsBase } = commitsSince(tree, base)
  if (!containsBase)
    return [`${branch} no longer builds on ${base.slice(0, 10)}: its history was rewritten`]
  const isNew = (path: string) => !leftBefore.includes(path)
  const dirty = uncommittedPaths(tree).filter(isNew)
  const secrets = dirty.filter((path) => isUntrackedSecret(tree, path))
  if (secrets.length > 0)
    return [
      `untracked files with secrets: ${abbreviateList(secrets, 8)}; add them to .gitignore or remove them, and do not commit them`,
    ]
  if (dirty.length > 0) return [`not committed: ${abbreviateList(dirty, 8)}`]
  const hidden = hiddenPaths(tree).filter(isNew)
  if (hidden.length > 0)
    return [
      `git was told not to look for changes (skip-worktree or assume-unchanged) in: ${abbreviateList(hidden, 8)}`,
    ]
  if (count === 0 && !labels.includes(NO_COMMIT)) return ['nothing was committed']
  // Without a verify command the agent's commits are the only proof, and Stint's automatic commit is none.
  if (verify === undefined && ownVerify === undefined && areAllAutoCommits(tree, base))
    return ['nothing was committed by the agent itself']
  if (
    contains !== undefined &&
    !gitSucceeds(tree, ['merge-base', '--is-ancestor', contains, 'HEAD'])
  ) {
    const sha = contains.slice(0, 12)
    return [`${branch} does not contain ${sha}: git merge ${sha}`]
  }
  if (produces !== undefined && !isProduced(tree, base, produces))
    return [`${produces} was not brought forth and committed`]
  return []
}

function isUntrackedSecret(tree: string, path: string): boolean {
  const isSecret = isSecretFile(tree, Buffer.from(path).toString('latin1'))
  return isSecret && !isTracked(tree, path)
}

function isProduced(tree: string, base: string, path: string): boolean {
  return (
    isInHead(tree, path) &&
    !gitSucceeds(tree, ['diff', '--quiet', base, 'HEAD', '--', `:(top,literal)${path}`])
  )
}

function isInHead(tree: string, path: string): boolean {
  return runGit(tree, ['ls-tree', '--name-only', 'HEAD', '--', path]) !== ''
}

function findOpenItems({ checklist }: Task): readonly string[] {
  const open = checklist.filter(({ done }) => !done).map(({ item }) => item)
  return open.length === 0 ? [] : [`not ticked: ${abbreviateList(open, 8)}`]
}

export interface VerifyResult {
  readonly command: string
  /** Absent when it was killed. */
  readonly exit?: number
  readonly passed: boolean
  /** Reads after the command: `ended with 1`, `took longer than 20 min`. */
  readonly ending: string
  readonly output: string
  readonly seconds: number
  readonly isStopped: boolean
}

const KEPT_CHARACTERS = 6000

/** Runs a verify command in a tree, and ends everything it started. */
export async function runVerify(
  command: string,
  { tree, verifyMs, env, isStopped }: Pick<ProofOptions, 'tree' | 'verifyMs' | 'env' | 'isStopped'>,
): Promise<VerifyResult> {
  const startedAt = Date.now()
  const child = spawnGuarded('/bin/sh', ['-c', `exec 2>&1\n${command}`], { cwd: tree, env })
  child.stdin.end()
  let isLate = false
  const end = () => void child.end(1000)
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, verifyMs)
  isStopped.addEventListener('abort', end, { once: true })
  if (isStopped.aborted) end()
  const tail: string[] = []
  let length = 0
  try {
    for await (const line of child.lines) {
      tail.push(line)
      length += line.length + 1
      while (length > KEPT_CHARACTERS && tail.length > 1) length -= tail.shift()!.length + 1
    }
    const { code, signal } = await child.exited
    const itself = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended with ${code}`
    return {
      command,
      ...(code === null || isLate ? {} : { exit: code }),
      passed: code === 0 && !isLate && !isStopped.aborted,
      ending: isLate ? `took longer than ${Math.round(verifyMs / 60_000)} min` : itself,
      output: tail.join('\n').slice(-KEPT_CHARACTERS),
      seconds: (Date.now() - startedAt) / 1000,
      isStopped: isStopped.aborted,
    }
  } finally {
    clearTimeout(timer)
    isStopped.removeEventListener('abort', end)
    await child.end()
  }
}
