const BY_EXTENSION: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ts: 'TypeScript',
    tsx: 'TypeScript',
    mts: 'TypeScript',
    cts: 'TypeScript',
    js: 'JavaScript',
    jsx: 'JavaScript',
    mjs: 'JavaScript',
    cjs: 'JavaScript',
    vue: 'Vue',
    svelte: 'Svelte',
    astro: 'Astro',
    py: 'Python',
    pyi: 'Python',
    pyx: 'Python',
    ipynb: 'Jupyter',
    go: 'Go',
    rs: 'Rust',
    zig: 'Zig',
    nim: 'Nim',
    v: 'V',
    d: 'D',
    c: 'C',
    h: 'C',
    cc: 'C++',
    cpp: 'C++',
    cxx: 'C++',
    hpp: 'C++',
    hh: 'C++',
    cu: 'CUDA',
    m: 'Objective-C',
    mm: 'Objective-C',
    java: 'Java',
    kt: 'Kotlin',
    kts: 'Kotlin',
    scala: 'Scala',
    groovy: 'Groovy',
    clj: 'Clojure',
    cljs: 'Clojure',
    cs: 'C#',
    fs: 'F#',
    vb: 'Visual Basic',
    rb: 'Ruby',
    erb: 'Ruby',
    php: 'PHP',
    pl: 'Perl',
    pm: 'Perl',
    lua: 'Lua',
    r: 'R',
    jl: 'Julia',
    swift: 'Swift',
    dart: 'Dart',
    ex: 'Elixir',
    exs: 'Elixir',
    erl: 'Erlang',
    hs: 'Haskell',
    ml: 'OCaml',
    mli: 'OCaml',
    elm: 'Elm',
    sh: 'Shell',
    bash: 'Shell',
    zsh: 'Shell',
    fish: 'Shell',
    ps1: 'PowerShell',
    sql: 'SQL',
    css: 'CSS',
    scss: 'CSS',
    less: 'CSS',
    html: 'HTML',
    tf: 'Terraform',
    proto: 'Protocol Buffers',
    sol: 'Solidity',
    nix: 'Nix',
    asm: 'Assembly',
    s: 'Assembly',
    f90: 'Fortran',
    f: 'Fortran',
  }),
)

// What somebody else wrote, or a program did, says nothing of how this project is written.
const FOREIGN =
  /(?:^|\/)(?:node_modules|vendor|vendored|third[_-]?party|external|bower_components|\.yarn|Pods)\//
const MADE = /(?:^|\/)(?:dist|build|out|generated|__generated__)\//
const MADE_FILE = /\.min\.(?:js|css)$|\.pb\.go$|_pb2\.py$/

/** The language that a file is written in, by its name. */
export function languageOf(name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  const language = dot < 0 ? undefined : BY_EXTENSION.get(name.slice(dot + 1).toLowerCase())
  return language === undefined || MADE_FILE.test(name) ? undefined : language
}

/** Whether what lies in a folder was written by others. */
export function isForeign(folder: string): boolean {
  return FOREIGN.test(`${folder}/`)
}

/** Whether what lies in a folder was written for this project, by somebody. */
export function isOwn(folder: string): boolean {
  return !isForeign(folder) && !MADE.test(`${folder}/`)
}

/** The largest first; what is equal by name, so that the order never depends on anything else. */
export function byCount(
  counts: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...counts].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}
