const EXTENSIONS = {
  TypeScript: 'ts tsx mts cts',
  JavaScript: 'js jsx mjs cjs',
  Vue: 'vue',
  Svelte: 'svelte',
  Astro: 'astro',
  Python: 'py pyi pyx',
  Jupyter: 'ipynb',
  Go: 'go',
  Rust: 'rs',
  Zig: 'zig',
  Nim: 'nim',
  V: 'v',
  D: 'd',
  C: 'c h',
  'C++': 'cc cpp cxx hpp hh',
  CUDA: 'cu',
  'Objective-C': 'm mm',
  Java: 'java',
  Kotlin: 'kt kts',
  Scala: 'scala',
  Groovy: 'groovy',
  Clojure: 'clj cljs',
  'C#': 'cs',
  'F#': 'fs',
  'Visual Basic': 'vb',
  Ruby: 'rb erb',
  PHP: 'php',
  Perl: 'pl pm',
  Lua: 'lua',
  R: 'r',
  Julia: 'jl',
  Swift: 'swift',
  Dart: 'dart',
  Elixir: 'ex exs',
  Erlang: 'erl',
  Haskell: 'hs',
  OCaml: 'ml mli',
  Elm: 'elm',
  Shell: 'sh bash zsh fish',
  PowerShell: 'ps1',
  SQL: 'sql',
  CSS: 'css scss less',
  HTML: 'html',
  Terraform: 'tf',
  'Protocol Buffers': 'proto',
  Solidity: 'sol',
  Nix: 'nix',
  Assembly: 'asm s',
  Fortran: 'f90 f',
}

const LANGUAGES = new Map(
  Object.entries(EXTENSIONS).flatMap(([language, extensions]) =>
    extensions.split(' ').map((extension) => [extension, language] as const),
  ),
)

// Vendored and generated code says nothing about this project.
const VENDORED =
  /(?:^|\/)(?:node_modules|vendor|vendored|third[_-]?party|external|bower_components|\.yarn|Pods)\//
const GENERATED = /(?:^|\/)(?:dist|build|out|generated|__generated__)\//
const GENERATED_FILE = /\.min\.(?:js|css)$|\.pb\.go$|_pb2\.py$/

function languageOf(name: string) {
  const dot = name.lastIndexOf('.')
  const language = dot < 0 ? undefined : LANGUAGES.get(name.slice(dot + 1).toLowerCase())
  return GENERATED_FILE.test(name) ? undefined : language
}

export function isVendored(folder: string): boolean {
  return VENDORED.test(`${folder}/`)
}

export function isOwnCode(folder: string): boolean {
  return !isVendored(folder) && !GENERATED.test(`${folder}/`)
}

/** Largest first, then by name. */
export function byCount(
  counts: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...counts].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}

export class Folder {
  readonly folders = new Map<string, Folder>()
  own = 0
  files = 0
  readonly languages = new Map<string, number>()

  constructor(
    readonly name: string,
    /** From the root, without a trailing slash. */
    readonly path: string,
  ) {}

  child(name: string): Folder {
    const child =
      this.folders.get(name) ?? new Folder(name, this.path === '' ? name : `${this.path}/${name}`)
    this.folders.set(name, child)
    return child
  }

  count(language: string, count: number): void {
    this.languages.set(language, (this.languages.get(language) ?? 0) + count)
  }

  sumUp(): void {
    this.files = this.own
    for (const child of this.folders.values()) {
      child.sumUp()
      this.files += child.files
      for (const [language, count] of child.languages) this.count(language, count)
    }
  }
}

/** Deep enough for `src/main/java/org/example/thing`. */
const MAX_DEPTH = 8

export function buildFolderTree(paths: readonly string[]): Folder {
  const root = new Folder('', '')
  let last = { path: '', folder: root, isOwn: true }
  for (const path of paths) {
    const folderPath = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    if (folderPath !== last.path) {
      const steps = folderPath === '' ? [] : folderPath.split('/', MAX_DEPTH)
      const folder = steps.reduce((at, name) => at.child(name), root)
      last = { path: folderPath, folder, isOwn: isOwnCode(folderPath) }
    }
    last.folder.own += 1
    const language = last.isOwn ? languageOf(path) : undefined
    if (language !== undefined) last.folder.count(language, 1)
  }
  root.sumUp()
  return root
}

/** The first folder with files of its own or several subfolders. */
export function firstBranching(folder: Folder): Folder {
  const [only] = folder.folders.values()
  return folder.own === 0 && folder.folders.size === 1 && only !== undefined
    ? firstBranching(only)
    : folder
}
