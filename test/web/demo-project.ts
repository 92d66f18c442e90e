// A project with everything that the page shows, made by the real program and the rehearsal harness: a run with a retry, a parked and a
// blocked task, a parallel run, merged, ready and conflicted delegates, a workflow that waits for approval, a handoff and a backlog.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine, program } from '../support/cli.ts'
import { temporaryFolder } from '../support/scratch.ts'

export interface DemoProject {
  /** The folder of everything; the caller removes it. */
  readonly folder: string
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  /** Runs in this process and returns the output. */
  stint(...args: readonly string[]): Promise<string>
  /** Runs in its own process, which may exit with any of these codes. */
  work(args: readonly string[], codes?: readonly number[]): string
  git(...args: readonly string[]): string
}

export function emptyProject(): DemoProject {
  const folder = temporaryFolder()
  const root = join(folder, 'sweeper')
  mkdirSync(root)
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: folder,
    STINT_STATE_HOME: join(folder, 'state'),
    GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
  }
  writeFileSync(
    join(folder, 'gitconfig'),
    '[user]\n\tname = Demo\n\temail = demo@example.invalid\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n',
  )
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, env, encoding: 'utf8' })
  const here = commandLine(root, env)
  const stint = async (...args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await here.stint(...args)
    if (exitCode !== 0)
      throw new Error(`stint ${args.join(' ')} ended with ${exitCode}\n${stdout}${stderr}`)
    return stdout
  }
  const work = (args: readonly string[], codes: readonly number[] = [0]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      cwd: root,
      env,
      encoding: 'utf8',
    })
    if (status === null || !codes.includes(status))
      throw new Error(`stint ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`)
    return stdout
  }
  writeFileSync(
    join(root, 'sweeper.go'),
    'package sweep\n\nfunc sweep() {\n\tcheck()\n\tlock()\n}\n',
  )
  writeFileSync(join(root, '.gitignore'), '.sessions/\n.tasks/\n')
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'start')
  return { folder, root, env, stint, work, git }
}

const RUN = `tasks:
  log-each-sweep:
    - - say: I look at the sweeper first.
      - write: { path: log.go, text: "package sweep // TODO: log it" }
      - commit: log each sweep
      - done: Each sweep is logged.
    - - write: { path: log.go, text: "package sweep // logs each sweep" }
      - commit: really log each sweep
      - usage: 62000
      - done: Each sweep is logged.
  count-the-sweeps:
    - - write: { path: count.go, text: "package sweep // counts" }
      - commit: count the sweeps
      - usage: 41000
      - done: Counted.
  alert-on-failures:
    - - say: There is no pager to alert.
      - lie: It alerts.
  choose-a-dashboard:
    - - blocked: Which dashboard do you use?
`

const BESIDE = `tasks:
  document-the-lock-order:
    - - write: { path: LOCKS.md, text: "# Lock order" }
      - commit: document the lock order
      - wait: 300
      - done: Documented.
  fuzz-the-parser:
    - - write: { path: fuzz.go, text: "package sweep // fuzz" }
      - commit: fuzz the parser
      - wait: 300
      - done: Fuzzed.
`

const DELEGATES = `tasks:
  time-each-sweep:
    - - write: { path: log.go, text: "package sweep // logs each sweep and its time" }
      - commit: time each sweep
      - done: Each sweep is timed.
  label-each-sweep:
    - - write: { path: log.go, text: "package sweep // logs each sweep and its label" }
      - commit: label each sweep
      - done: Each sweep is labelled.
  describe-the-sweeper:
    - - write: { path: SWEEPER.md, text: "# The sweeper\\n\\nIt sweeps. <img src=x onerror=alert(1)>\\n" }
      - write: { path: sweeper.go, text: "package sweep\\n\\nfunc sweep() {\\n\\tlock()\\n\\tcheck()\\n}\\n" }
      - commit: describe the sweeper
      - done: Described.
`

/** Takes some seconds, so it is created once for all tests. `isParallel`: with a run that works on two tasks at once. */
export async function demoProject({ isParallel = false } = {}): Promise<DemoProject> {
  const demo = emptyProject()
  const { root, stint, work } = demo
  const script = (name: string, text: string): string => {
    const path = join('.sessions', `${name}.yml`)
    writeFileSync(join(root, path), text)
    return path
  }
  const task = (title: string, ...more: readonly string[]) => stint('task', 'add', title, ...more)

  await stint(
    'init',
    '--name',
    'fix-sweep-bug',
    '--goal',
    'Fix race condition causing intermittent sweep failures',
  )
  await stint(
    'log',
    '--progress',
    'Found root cause: race condition in sweeper.go:245',
    '--next',
    'Write the regression test',
  )
  await stint('handoff', 'create', '--reason', 'The context is nearly full')

  await task('Log each sweep', '--priority', 'P1', '--size', 'S')
  await task('Count the sweeps', '--size', 'S', '--depends', 'log-each-sweep')
  await task('Alert on failures', '--size', 'M', '--depends', 'log-each-sweep')
  await task('Choose a dashboard', '--size', 'XS')
  await task('Draw the dashboard', '--depends', 'count-the-sweeps,choose-a-dashboard')
  await task('Write the runbook', '--size', 'S', '--depends', 'count-the-sweeps,alert-on-failures')
  const verify = ['--verify', '! grep -n TODO *.go']
  const rehearsed = ['--harness', 'rehearsal', ...verify]
  // The delegates run in parallel to the run.
  const inBackground = [
    ...rehearsed,
    '--session',
    'fix-sweep-bug',
    '--script',
    script('delegates', DELEGATES),
  ]
  for (const what of ['Time each sweep', 'Label each sweep', 'Describe the sweeper'])
    work(['delegate', what, ...inBackground])
  work(['run', ...rehearsed, '--script', script('run', RUN)], [1])
  work(['delegate', 'wait'])
  work(['merge', 'time-each-sweep'])
  work(['merge', 'label-each-sweep', '--no-send-back'], [1])

  if (isParallel) {
    await task('Document the lock order', '--label', 'beside', '--size', 'S')
    await task('Fuzz the parser', '--label', 'beside', '--size', 'S')
    work(
      [
        'run',
        ...rehearsed,
        '--parallel',
        '2',
        '--label',
        'beside',
        '--script',
        script('beside', BESIDE),
      ],
      [0, 1],
    )
  }

  await stint('pause')
  await stint(
    'workflow',
    'init',
    'wf-001',
    'User authentication',
    '--goal',
    'People log in with a password',
  )
  await stint('workflow', 'phase', 'wf-001', '4')
  work(['workflow', 'phase', 'wf-001'], [1])

  await task(
    'Rotate the keys',
    '--priority',
    'P0',
    '--size',
    'L',
    '--description',
    'Every <b>ninety</b> days, by the book.',
  )
  await task(
    'Generate new keys',
    '--parent',
    'rotate-the-keys',
    '--checklist',
    'on the build host',
    '--checklist',
    'in the vault',
  )
  await task('Revoke old keys', '--parent', 'rotate-the-keys', '--depends', 'generate-new-keys')
  return demo
}
