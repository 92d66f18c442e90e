// The survey of a repository of 100,000 files, against listing its files with git.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'
import { paired } from './paired.mjs'

const SOURCES = {
  'src/context/survey/project-context.ts': ['loadProjectContext'],
  'src/git/repository.ts': ['findRepository'],
}
const FILES = 100_000
const LIMIT = 8

export async function run({ scale = 1 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-project-'))
  const bundle = await bundleSources(SOURCES)
  try {
    const { findRepository, loadProjectContext } = await import(pathToFileURL(bundle.file).href)
    const files = Math.max(1000, Math.round(FILES * scale))
    const root = join(folder, 'project')
    makeRepository(root, files)
    const repository = findRepository(root)
    const find = (refresh) => () =>
      loadProjectContext(repository, { refresh, withoutSecrets: (text) => text })
    const list = () => execFileSync('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 1e9 })
    find(true)()
    return [
      await against(
        `what a repository of ${files.toLocaleString('en')} files is, found out, against \`git ls-files\``,
        find(true),
        list,
      ),
      await against(
        'the same where it is kept and looked whether it still holds',
        find(false),
        list,
      ),
    ]
  } finally {
    bundle.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function against(name, ours, bare) {
  const { a, b, ratio } = await paired(ours, bare)
  return { name, ours: a, bare: b, ratio, limit: `at most ${LIMIT}`, ok: ratio <= LIMIT }
}

/** Listed and committed; only the manifest is read. */
function makeRepository(root, files) {
  const git = (args, input) =>
    execFileSync('git', args, { cwd: root, input, encoding: 'utf8' }).trim()
  execFileSync('git', ['init', '-q', '-b', 'main', root])
  writeFileSync(
    join(root, 'package.json'),
    `${JSON.stringify({ name: 'large', scripts: { test: 'vitest run' } })}\n`,
  )
  git(['add', 'package.json'])
  const blob = git(['hash-object', '-w', '--stdin'], 'export {}\n')
  const lines = Array.from(
    { length: files },
    (_, n) => `100644 ${blob}\tpackages/p${n % 900}/src/module-${n % 7}/file-${n}.ts\n`,
  )
  git(['update-index', '--index-info'], lines.join(''))
  git([
    '-c',
    'user.name=Bench',
    '-c',
    'user.email=bench@example.invalid',
    'commit',
    '-q',
    '-m',
    'start',
  ])
}
