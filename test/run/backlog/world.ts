// Test worlds for backlogs: a real project, its workspace, and stand-ins for programs npm does not provide.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { Workspace } from '../../../src/project/store/workspace.ts'
import { openBacklogSource } from '../../../src/run/sources/open-backlog-source.ts'
import type { BacklogSource } from '../../../src/run/sources/backlog-source.ts'
import type { Backlog } from '../../../src/backlog/backlog.ts'
import type { Task } from '../../../src/backlog/task.ts'
import type { World } from '../../support/project.ts'
import { scratchFolder } from '../../support/scratch.ts'

export async function sourceOf(
  world: World,
  given: string | undefined,
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<BacklogSource> {
  const { env = {}, cwd = world.root } = options
  const workspace = new Workspace(cwd, { say: (line) => world.messages.push(line), env })
  onTestFinished(() => workspace.close())
  return openBacklogSource(workspace, given)
}

export async function read(
  world: World,
  given: string | undefined,
  options: Parameters<typeof sourceOf>[2] = {},
): Promise<Backlog> {
  return (await sourceOf(world, given, options)).read()
}

/** A task in one line: `name status <deps ^parent`. */
export function taskLines(backlog: Backlog): readonly string[] {
  const nameOf = (id: string) => backlog.byId.get(id)?.shortname ?? `?${id}`
  return backlog.tasks.map((task) =>
    [
      task.shortname,
      task.status,
      ...(task.dependsOn.length === 0 ? [] : [`<${task.dependsOn.map(nameOf).join(',')}`]),
      ...(task.parent === undefined ? [] : [`^${nameOf(task.parent)}`]),
    ].join(' '),
  )
}

export function named(backlog: Backlog, shortname: string): Task {
  const task = backlog.tasks.find((one) => one.shortname === shortname)
  if (task === undefined)
    throw new Error(`no ${shortname} among ${backlog.tasks.map((one) => one.shortname).join(', ')}`)
  return task
}

/** Works on a task as a run does: in a linked session that is then closed. */
export async function workOn(
  world: World,
  task: string,
  how: 'completed' | 'abandoned' = 'completed',
): Promise<void> {
  await world.run((project) =>
    project.init({ tasks: [task], name: `work-${task.replaceAll(/\W/g, '-')}` }),
  )
  await world.run((project) => project.close({ how }))
}

/** A linked worktree at the last commit, as a run gets one. */
export function worktree(world: World): string {
  const tree = join(scratchFolder(), 'tree')
  world.git('worktree', 'add', '--quiet', '-b', 'run', tree)
  return tree
}

export function documented(name: string): string {
  return readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'documented', name), 'utf8')
}

export interface FakeProgram {
  readonly env: NodeJS.ProcessEnv
  /** The arguments of each call, oldest first. */
  calls(): readonly (readonly string[])[]
}

/**
 * A program on the PATH that prints what is given for the first of its arguments that is named, fails with what is named
 * `!word`, and sleeps for `sleep`. For bd and gh, which cannot be had from npm.
 */
export function fakeProgram(
  command: string,
  answers: Readonly<Record<string, string>>,
): FakeProgram {
  const folder = scratchFolder()
  const log = join(folder, 'calls.jsonl')
  mkdirSync(join(folder, 'bin'))
  const script = `#!${process.execPath}
const fs = require('node:fs')
const answers = ${JSON.stringify(answers)}
const words = process.argv.slice(2)
fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify(words) + '\\n')
if ('sleep' in answers) setTimeout(() => {}, 600000)
else {
  const failed = words.find((word) => '!' + word in answers)
  if (failed !== undefined) { process.stderr.write(answers['!' + failed]); process.exit(1) }
  process.stdout.write(answers[words.find((word) => word in answers)] ?? '')
}
`
  const path = join(folder, 'bin', command)
  writeFileSync(path, script)
  chmodSync(path, 0o755)
  return {
    env: { PATH: join(folder, 'bin') },
    calls: () =>
      readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as readonly string[]),
  }
}
