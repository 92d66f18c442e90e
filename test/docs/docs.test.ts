import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((name) => name.endsWith('.md'))

interface Shown {
  readonly command: string
  readonly exitCode: number
  readonly output: readonly string[]
}

function blocks(page: string, language: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1]!)
}

/** `$ command   # exit 1`, followed by its expected output. */
function shownIn(page: string): readonly Shown[] {
  const shown: { command: string; exitCode: number; output: string[] }[] = []
  for (const line of blocks(page, 'console').flatMap((block) => block.trimEnd().split('\n'))) {
    const command = /^\$ (.*?)(?:\s+# exit (\d+))?$/.exec(line)
    if (command === null) shown.at(-1)!.output.push(line)
    else shown.push({ command: command[1]!, exitCode: Number(command[2] ?? 0), output: [] })
  }
  return shown
}

const made: string[] = []
let bin: string

beforeAll(() => {
  bin = mkdtempSync(join(tmpdir(), 'stint-docs-bin-'))
  made.push(bin)
  writeFileSync(join(bin, 'stint'), `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist', 'stint.js')}" "$@"\n`)
  chmodSync(join(bin, 'stint'), 0o755)
})
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** A git project with one commit, and what a shell in it needs. */
function scratchProject() {
  const folder = mkdtempSync(join(tmpdir(), 'stint-docs-'))
  made.push(folder)
  const cwd = join(folder, 'project')
  mkdirSync(cwd)
  const env = {
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    HOME: folder,
    STINT_STATE_HOME: join(folder, 'state'),
    GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
  }
  writeFileSync(env.GIT_CONFIG_GLOBAL, '[user]\n\tname = Docs\n\temail = docs@example.invalid\n[init]\n\tdefaultBranch = main\n')
  writeFileSync(join(cwd, 'readme.txt'), 'a project\n')
  for (const args of [['init', '-q'], ['add', '.'], ['commit', '-qm', 'start']]) execFileSync('git', args, { cwd, env })
  return { cwd, env }
}

describe('every command shown in', () => {
  for (const page of pages) {
    const shown = shownIn(page)
    if (shown.length === 0) continue
    test(`${page} runs and says what is shown`, () => {
      const { cwd, env } = scratchProject()
      for (const { command, exitCode, output } of shown) {
        const result = spawnSync('bash', ['-c', command], { cwd, env, encoding: 'utf8' })
        expect(`${command}: exit ${result.status}\n${result.status === exitCode ? '' : result.stdout + result.stderr}`).toBe(
          `${command}: exit ${exitCode}\n`,
        )
        const lines = result.stdout.split('\n')
        for (const line of output) {
          const pattern = new RegExp(`^${line.split('…').map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('.*')}$`)
          const found = lines.some((actual) => pattern.test(actual))
          expect(found ? '' : `${command}\nshould show: ${line}\nbut showed:\n${result.stdout}`).toBe('')
        }
      }
    }, 180_000)
  }

  test('.ci/run also runs the shell blocks', () => {
    const ci = readFileSync(join(root, '.ci', 'run'), 'utf8')
    for (const page of pages) {
      for (const line of blocks(page, 'sh').flatMap((block) => block.trim().split('\n'))) {
        for (const part of line.split(' && ')) expect(ci).toContain(part)
      }
    }
  })
})

describe('the docs', () => {
  test('link only to existing files', () => {
    const names = ['README.md', 'ARCHITECTURE.md', 'PROMISES.md', 'AGENTS.md', 'CONTRIBUTING.md', 'CONTEXT.md', 'CHANGELOG.md', ...pages]
    const missing = names.flatMap((name) => {
      const text = readFileSync(join(root, name), 'utf8')
      const links = [...text.matchAll(/\]\(([^)#]+?)(?:#[^)]*)?\)/g)].map((match) => match[1]!).filter((link) => !/^https?:/.test(link))
      return links.filter((link) => spawnSync('test', ['-e', join(root, dirname(name), link)]).status !== 0).map((link) => `${name}: ${link}`)
    })
    expect(missing).toEqual([])
  })

  test.each([
    ['the example', "name: 'from-code'", "from-code [ 'done', 'started' ]"],
    ['the example of a run', 'project.runs.start', 'done write-the-guide 800\nfinished stint/run-'],
    ['the example of a delegate', 'project.delegates.start', '5 insertions(+)\nmerged '],
  ])('%s of the library page runs against the built library', (_, part, said) => {
    const { cwd, env } = scratchProject()
    const example = blocks('docs/library.md', 'js').find((block) => block.includes(part))!
    // Outside the checkout, which must be clean for a merge.
    writeFileSync(join(cwd, '..', 'example.mjs'), example.replace("'stint'", JSON.stringify(join(root, 'dist', 'library.mjs'))))
    const output = execFileSync(process.execPath, ['../example.mjs'], { cwd, env, encoding: 'utf8' })
    expect(output).toContain(said)
  })
})
