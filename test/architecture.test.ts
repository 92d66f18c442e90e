import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(root, 'src')

/** The folders of `src/` as ARCHITECTURE.md lists them, from the top down. */
const LAYERS = [
  .../^```\nsrc\/\n([\s\S]*?)\n\n/m
    .exec(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))![1]!
    .matchAll(/^ {2}([\w.-]+)/gm),
].map((match) => match[1]!)

/** Front ends that reach the core only through these files: this list only grows. */
const FRONT_ENDS = ['cli', 'mcp', 'serve']
const FACADE: ReadonlySet<string> = new Set(['library.ts', 'core.ts', 'public/projection.ts'])

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
)
const texts = new Map(files.map((name) => [name, readFileSync(join(source, name), 'utf8')]))

function importsOf(name: string): readonly string[] {
  const found = [...texts.get(name)!.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    (match) => match[1]!,
  )
  return found
}

function localImports(name: string): readonly string[] {
  return importsOf(name)
    .filter((path) => path.startsWith('.'))
    .map((path) => relative(source, resolve(source, dirname(name), path)))
}

function layerOf(name: string): number {
  return LAYERS.indexOf(name.split('/')[0]!)
}

describe('the sources', () => {
  test('belong to a listed layer', () => {
    expect(files.filter((name) => layerOf(name) === -1)).toEqual([])
  })

  test('import downwards only', () => {
    const upward = files.flatMap((name) =>
      localImports(name)
        .filter((other) => layerOf(other) < layerOf(name))
        .map((other) => `${name} → ${other}`),
    )
    expect(upward).toEqual([])
  })

  test('reach the core from a front end only through library.ts, core.ts and public.ts', () => {
    const allowed = (folder: string, other: string) =>
      FACADE.has(other) || [folder, 'serve', 'mcp', 'text'].includes(other.split('/')[0]!)
    const around = FRONT_ENDS.flatMap((folder) =>
      files
        .filter((name) => name.startsWith(`${folder}/`))
        .flatMap((name) =>
          localImports(name)
            .filter((other) => !allowed(folder, other))
            .map((other) => `${name} → ${other}`),
        ),
    )
    expect(around).toEqual([])
  })

  test('hold only exports in the files that front ends import from', () => {
    // With its own code such a file would be loaded, and with it everything that it exports.
    const code = (text: string) =>
      text.replaceAll(/^\/\/.*$|^export (?:type )?(?:\*|\{[^}]*\}) from '[^']+'$/gm, '').trim()
    const own = ['library.ts', 'core.ts'].map((name) => code(texts.get(name)!))
    expect(own).toEqual(['', ''])
  })

  test("export the page's types from one file only", () => {
    const page = join(root, 'web')
    const others = readdirSync(page, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .flatMap((name) =>
        [...readFileSync(join(page, name), 'utf8').matchAll(/from '((?:\.\.\/)+src\/[^']+)'/g)]
          .map((match) => relative(source, resolve(page, dirname(name), match[1]!)))
          .filter((other) => other !== 'serve/contract.ts' && !other.startsWith('text/'))
          .map((other) => `${name} → ${other}`),
      )
    expect(others).toEqual([])
  })

  test('have no import cycle', () => {
    const done = new Set<string>()
    const cycles: string[] = []
    const visit = (name: string, path: readonly string[]) => {
      if (path.includes(name)) cycles.push([...path.slice(path.indexOf(name)), name].join(' → '))
      if (done.has(name) || path.includes(name)) return
      for (const other of localImports(name)) visit(other, [...path, name])
      done.add(name)
    }
    for (const name of files) visit(name, [])
    expect(cycles).toEqual([])
  })

  test('have no cycle between folders, nested ones included', () => {
    // A file directly in src/ is a layer by itself.
    const folderOf = (name: string) => (dirname(name) === '.' ? name : dirname(name))
    const folders = new Map<string, Set<string>>()
    for (const name of files) {
      const from = folders.get(folderOf(name)) ?? new Set()
      for (const other of localImports(name))
        if (folderOf(other) !== folderOf(name)) from.add(folderOf(other))
      folders.set(folderOf(name), from)
    }
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      [...(folders.get(from) ?? [])].some((next) => {
        if (next === to) return true
        if (seen.has(next)) return false
        seen.add(next)
        return reaches(next, to, seen)
      })
    const cyclic = [...folders.keys()].filter((folder) => reaches(folder, folder))
    expect(cyclic).toEqual([])
  })

  test('have at most 25 files in a folder', () => {
    const counts = new Map<string, number>()
    for (const name of files) counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1)
    const crowded = [...counts].filter(([, count]) => count > 25)
    expect(crowded).toEqual([])
  })

  test('write to disk in one module only', () => {
    const writing =
      /\b(?:append|chmod|chown|copy|cp|fdatasync|fsync|ftruncate|futimes|lchown|link|lutimes|mkdir|mkdtemp|open|rename|rmdir|rm|symlink|truncate|unlink|utimes|write|writev|writeFile|appendFile|copyFile|createWriteStream)(?:Sync)?\b/
    const reading = new Set(['openSync'])
    const offenders = [...texts].flatMap(([name, text]) => {
      const imported = [
        ...text.matchAll(/import (?:type )?\{([^}]*)\} from 'node:fs(?:\/promises)?'/g),
      ].flatMap((match) => match[1]!.split(',').map((part) => part.trim().replace(/ as .*$/, '')))
      return imported
        .filter((part) => writing.test(part) && !reading.has(part))
        .map((part) => `${name}: ${part}`)
    })
    expect(offenders.filter((offender) => !offender.startsWith('journal/write-files.ts'))).toEqual(
      [],
    )
  })

  test('read a folder or file without the check for links only where no clone brings it', () => {
    // Programs of Stint, of the system and of the user; git's own files; files of the repository that are resolved first.
    const unchecked = new Set([
      'bin/load-compiled.ts',
      'bin/program-bundle.ts',
      'bin/stint.ts',
      'cli/main.ts',
      'cli/study/report-page.ts',
      'context/handoff/gather-facts.ts',
      'git/working-tree.ts',
      'harness/api/drive/tools/files.ts',
      'harness/process/agent-ancestor.ts',
      'harness/process/find-program.ts',
      'harness/process/spawn-guarded.ts',
      'index/projects.ts',
      'journal/ids.ts',
      'journal/read-files.ts',
      'journal/write-files.ts',
      'mcp/serve-mcp.ts',
      'project/conversation-budget.ts',
      'project/digest/spawn-command.ts',
      'run/profiles/profile.ts',
      'run/sources/file-source.ts',
      'serve/page-files.ts',
    ])
    const reading =
      /import \{[^}]*\b(?:readdir|readFile|open|opendir|createReadStream)(?:Sync)?\b[^}]*\} from 'node:fs/
    const offenders = [...texts]
      .filter(([name, text]) => reading.test(text) && !unchecked.has(name))
      .map(([name]) => name)
    expect(offenders).toEqual([])
  })

  test('open a file for writing in one module only', () => {
    const offenders = [...texts]
      .filter(
        ([name, text]) =>
          name !== 'journal/write-files.ts' &&
          /openSync\((?!'\/dev\/null')[^,)]*,\s*(?!\s|'r'|readingFlags\(path\)\)|constants\.O_RDONLY \| \(constants\.O_NONBLOCK \?\? 0\)\))/.test(
            text,
          ),
      )
      .map(([name]) => name)
    expect(offenders).toEqual([])
  })

  test('keep the fold, text, budget and planner modules free of I/O', () => {
    const impure = files
      .filter((name) =>
        ['session/', 'text/', 'context/budget/', 'run/plan/'].some((folder) =>
          name.startsWith(folder),
        ),
      )
      .flatMap((name) =>
        importsOf(name)
          .filter((path) => path.startsWith('node:'))
          .map((path) => `${name}: ${path}`),
      )
    expect(impure).toEqual([])
  })

  test('name a harness only in harness/, and use the registry elsewhere', () => {
    const named =
      /(?:[=!]==\s*|\bcase\s+|\b(?:includes|startsWith|has|findHarness|hooksOf)\(\s*|\?\?\s*|\bharness:\s*|[^=!<>]=\s*|\[\s*)'(?:claude|codex|gemini|opencode|acp|rehearsal|goose):?'/
    const page = readdirSync(join(root, 'web'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => [`web/${name}`, readFileSync(join(root, 'web', name), 'utf8')] as const)
    const comparing = [...texts, ...page]
      .filter(([name, text]) => !name.startsWith('harness/') && named.test(text))
      .map(([name]) => name)
    expect(comparing).toEqual([])
  })

  test('keep the journal free of imports from other folders', () => {
    const foreign = files
      .filter((name) => name.startsWith('journal/'))
      .flatMap((name) => localImports(name).filter((other) => !other.startsWith('journal/')))
    expect(foreign).toEqual([])
  })
})

describe('ARCHITECTURE.md', () => {
  test('lists exactly the folders of the sources', () => {
    expect(LAYERS.toSorted()).toEqual(
      [...new Set(files.map((name) => name.split('/')[0]!))].toSorted(),
    )
  })
})
