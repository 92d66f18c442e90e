import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createFile, createFolderUnsynced, removeFile } from '../../src/journal/write-files.ts'
import { readOrUndefined, statOrUndefined } from '../../src/journal/read-files.ts'
import { asName, asObject, parseJson } from '../../src/text/json-fields.ts'
import type { Lab } from './lab.ts'

type Hooks = Readonly<
  Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>
>

/** Loaded into each process of a session to count its writes. */
const COUNTING = `process.on('exit', () => {
  const { made = 0 } = globalThis[Symbol.for('stint.writes')] ?? {}
  if (made > 0) require('node:fs').appendFileSync(process.env.STINT_MEASURED_WRITES, made + '\\n')
})
`

const ADDING = `const [, library, ...titles] = process.argv
const { openProject } = await import(library)
const project = openProject()
for (const title of titles) await project.tasks.add({ title })
project.dispose()
`

/** A project with Stint set up and its hooks registered. */
export class Project {
  readonly root: string
  readonly transcripts: string
  readonly #lab: Lab
  readonly #counted: string
  readonly #env: NodeJS.ProcessEnv
  #hooks: Hooks = {}

  constructor(lab: Lab) {
    this.#lab = lab
    this.root = lab.world()
    this.transcripts = `${this.root}-transcripts`
    this.#counted = `${this.root}-writes`
    const counting = `${this.root}-counting.cjs`
    createFolderUnsynced(this.transcripts)
    createFile(counting, COUNTING)
    this.#env = {
      ...lab.env,
      NODE_OPTIONS: `--require "${counting}"`,
      STINT_MEASURED_WRITES: this.#counted,
    }
  }

  async setUp(): Promise<void> {
    await this.stint(['setup', 'claude'])
    const settings = readFileSync(join(this.root, '.claude', 'settings.local.json'), 'utf8')
    this.#hooks = (JSON.parse(settings) as { hooks: Hooks }).hooks
    // Once per project, so not part of a session's cost.
    removeFile(this.#counted)
  }

  git(...args: readonly string[]): string {
    return this.#lab.git(this.root, ...args)
  }

  stint(args: readonly string[]): Promise<string> {
    const command = [process.execPath, this.#lab.stint, ...args] as const
    return this.#lab.run([...command], { cwd: this.root, env: this.#env })
  }

  /** Adds tasks like a user, but in one process: their number does not matter. */
  async addTasks(titles: readonly string[]): Promise<void> {
    const command = [
      process.execPath,
      '--input-type=module',
      '--eval',
      ADDING,
      pathToFileURL(this.#lab.library).href,
      ...titles,
    ] as const
    await this.#lab.run([...command], { cwd: this.root, env: this.#env })
  }

  /** Runs the registered hooks of an event and returns the injected text. */
  async hook(event: string, input: string): Promise<string> {
    const [answer = ''] = await this.#runAll(this.#hooks[event]?.[0]?.hooks ?? [], input)
    return (
      asName(
        asObject(asObject(parseJson(answer))?.['hookSpecificOutput'])?.['additionalContext'],
        Infinity,
      ) ?? ''
    )
  }

  /** Number of writes by Stint in this project. */
  get writes(): number {
    const lines = readOrUndefined(this.#counted)?.toString('utf8').trim().split('\n') ?? []
    return lines.reduce((sum, line) => sum + Number(line), 0)
  }

  /** All files of Stint in this project, each once. */
  get bytes(): number {
    const seen = new Map<number, number>()
    for (const folder of [join(this.root, '.sessions'), join(this.root, '.git', 'stint')]) {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const stat = statOrUndefined(join(folder, name))
        if (stat?.isFile() === true) seen.set(stat.ino, stat.size)
      }
    }
    return [...seen.values()].reduce((sum, size) => sum + size, 0)
  }

  /** Sequential: background hooks finish before the next event. */
  async #runAll(
    hooks: readonly { readonly command: string }[],
    input: string,
  ): Promise<readonly string[]> {
    const answers: string[] = []
    for (const { command } of hooks) {
      answers.push(
        await this.#lab.run(['/bin/sh', '-c', command], { cwd: this.root, env: this.#env, input }),
      )
    }
    return answers
  }
}
