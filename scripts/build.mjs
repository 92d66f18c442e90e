// Bundles the program and the library, and writes the library's types.
// Everything but the native SQLite module is bundled: unbundled, the imports alone cost more than the work.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const PROGRAMS = ['fast-start', 'fast-prompt', 'fast-tool', 'fast-end', 'handlers', 'after']
const root = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(root)
// Built next to the current one and swapped in when complete, because it may be started meanwhile.
const fresh = `dist.new-${process.pid}`
const old = `dist.old-${process.pid}`
process.once('exit', () => {
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true })
})

mkdirSync(fresh)
const programOutput = await buildProgram()
const hookOutput = await buildHook()
const pageOutput = await buildPage()
chmodSync(join(fresh, 'stint.js'), 0o755)
writeFileSync(
  join(fresh, 'THIRD-PARTY.txt'),
  licences([...programOutput, ...hookOutput, ...pageOutput]),
)
await writeLibrary()
await writeTypes()
swap()

/**
 * The program: everything but the hook, in one file, split into chunks at dynamic imports. Small
 * entry files load the chunks they need.
 */
async function buildProgram() {
  const bundle = await rolldown({
    input: 'src/bin/program.ts',
    platform: 'node',
    external: [/^node:/, '@photostructure/sqlite'],
    plugins: [withoutSchemaCompiler()],
    // Unused modules are dropped: commands import library.ts and load only what they use of it.
    treeshake: { moduleSideEffects: false },
    // A module that one command imports dynamically may be a static import of another.
    checks: { ineffectiveDynamicImport: false },
  })
  const { output } = await bundle.generate({
    format: 'cjs',
    chunkFileNames: '[name]-[hash].js',
    // Names are kept for readable stack traces.
    minify: { compress: true, mangle: { keepNames: true }, codegen: true },
  })
  await bundle.close()
  const fileName = writePack(output)
  const entries = []
  for (const name of ['stint', 'api-tools', 'import-files']) {
    const plugin = name === 'stint' ? undefined : besideStint()
    entries.push(
      await buildOne(`src/bin/${name}.ts`, `${name}.js`, plugin, {
        PROGRAM: JSON.stringify(fileName),
      }),
    )
  }
  // The package is ESM, but cached code can only be loaded for scripts.
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
  writeFileSync(
    join(fresh, 'package.json'),
    `${JSON.stringify({ name, version, type: 'commonjs' })}\n`,
  )
  return [...output, ...entries]
}

function besideStint() {
  return {
    name: 'beside stint',
    resolveId: (id) => (id === './stint.ts' ? { id: './stint.js', external: true } : null),
  }
}

async function writeLibrary() {
  const { loadProgram } = createRequire(import.meta.url)(join(root, fresh, 'stint.js'))
  const names = Object.keys(await loadProgram('library').library()).join(', ')
  const code = [
    `import { createRequire } from 'node:module'`,
    `const { ${names} } = await createRequire(import.meta.url)('./stint.js').loadProgram('library').library()`,
    `export { ${names} }`,
  ]
  writeFileSync(join(fresh, 'library.mjs'), `${code.join('\n')}\n`)
}

async function writeTypes() {
  const folder = join(fresh, 'types')
  const tsc = [
    'node_modules/typescript/bin/tsc',
    '-p',
    'scripts/tsconfig.types.json',
    '--outDir',
    folder,
  ]
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  const bundle = await rolldown({
    input: join(folder, 'library.d.ts'),
    plugins: [dts({ dtsInput: true, emitDtsOnly: true })],
    external: [/^node:/],
    checks: { pluginTimings: false },
  })
  await bundle.write({ dir: fresh, format: 'esm' })
  await bundle.close()
  rmSync(folder, { recursive: true })
}

/** The concatenated chunks, after an index with their offsets. */
function writePack(chunks) {
  const index = {}
  let start = 0
  const pieces = chunks.map(({ fileName, code }) => {
    const piece = wrapped(code)
    index[fileName] = [start, piece.length]
    start += piece.length
    return piece
  })
  const head = JSON.stringify(index)
  const text = `${String(head.length).padEnd(8)}${head}${pieces.join('')}`
  const sum = createHash('sha256').update(text).digest('hex').slice(0, 8)
  writeFileSync(join(fresh, `program-${sum}.pack`), text)
  return `program-${sum}.pack`
}

/** Wrapped like a CommonJS module at build time, so that loading needs no wrapper. */
function wrapped(code) {
  return `(function (exports, require, __dirname, __filename) {${asAscii(code)}\n})`
}

/**
 * The hook program: a small entry, and one self-contained file per kind of event, because each
 * loaded file costs time on every prompt. Dynamic imports become files of their own.
 */
async function buildHook() {
  // One program reads what another precomputed only if both are from the same build.
  const build = sourceSum()
  const define = { BUILD: JSON.stringify(build) }
  const programs = {}
  const chunks = []
  const beside = new Map()
  for (const name of PROGRAMS) {
    // Only the reader of a changed configuration is worth a file of its own.
    const isInlined = (id) =>
      name === 'after' || (name === 'handlers' && !id.endsWith('read-config.ts'))
    const chunk = await buildOne(
      `src/bin/hook/${name}.ts`,
      `hook-${name}-[hash].cjs`,
      loadedBeside(beside, isInlined, build),
      define,
    )
    programs[name] = chunk.fileName
    chunks.push(chunk)
  }
  const besideEntry = new Map()
  const entries = [
    await buildOne('src/bin/hook.ts', 'hook.cjs', loadedBeside(besideEntry), {
      PROGRAMS: JSON.stringify(programs),
    }),
  ]
  for (const [file, path] of besideEntry) entries.push(await buildOne(path, file))
  // These may import others, which are then visited as well. An import in code that a program does
  // not use leaves no trace in it.
  for (const [file, path] of beside) {
    if (!chunks.some(({ code }) => code.includes(file))) continue
    chunks.push(
      await buildOne(
        path,
        file,
        loadedBeside(beside, () => false, build),
        define,
      ),
    )
  }
  const rewrite = ({ fileName }, change) => {
    const path = join(fresh, fileName)
    writeFileSync(path, change(withRequire(readFileSync(path, 'utf8'))))
  }
  for (const entry of entries) rewrite(entry, asAscii)
  for (const chunk of chunks) rewrite(chunk, wrapped)
  return [...entries, ...chunks]
}

/**
 * The page of `stint serve`: one script and one style sheet, because its content security policy
 * forbids inline code.
 */
async function buildPage() {
  const folder = join(fresh, 'page')
  mkdirSync(folder, { recursive: true })
  const bundle = await rolldown({
    input: 'web/main.tsx',
    platform: 'browser',
    tsconfig: 'web/tsconfig.json',
  })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: 'page.js',
    minify: true,
    codeSplitting: false,
  })
  await bundle.close()
  const vendor = `@layer vendor {\n${readFileSync('node_modules/uplot/dist/uPlot.min.css', 'utf8')}}\n`
  // The layer order is declared first; within a layer the file order does not matter.
  const own = readdirSync('web/styles')
    .filter((name) => name !== 'tokens.css')
    .sort()
  const sheets = ['tokens.css', ...own].map((name) =>
    readFileSync(join('web/styles', name), 'utf8'),
  )
  writeFileSync(join(folder, 'page.css'), [sheets[0], vendor, ...sheets.slice(1)].join('\n'))
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join('web', name), join(folder, name))
  return output
}

/**
 * The MCP library includes a JSON schema compiler for features that we do not use, half of what our
 * MCP server would load. The stub throws with a clear name if it is ever used.
 */
function withoutSchemaCompiler() {
  const code = `import process from 'node:process'
class DefaultJsonSchemaValidator { getValidator() { throw new Error('no compiler of JSON schemas is bundled') } }
export { DefaultJsonSchemaValidator, process }`
  return {
    name: 'without schema compiler',
    load: (id) =>
      /@modelcontextprotocol[/\\]server[/\\]dist[/\\]shimsNode\.mjs$/.test(id) ? code : null,
  }
}

function sourceSum() {
  const sum = createHash('sha256')
  for (const name of readdirSync('src', { recursive: true }).toSorted()) {
    if (name.endsWith('.ts')) sum.update(readFileSync(join('src', name)))
  }
  return sum.digest('hex').slice(0, 16)
}

async function buildOne(path, entryFileNames, plugin, define = {}) {
  const bundle = await rolldown({
    input: path,
    platform: 'node',
    external: [/^node:/],
    // Unused modules are dropped, whatever their side effects.
    treeshake: { moduleSideEffects: false },
    transform: { define },
    ...(plugin === undefined ? {} : { plugins: [plugin] }),
  })
  const { output } = await bundle.write({
    dir: fresh,
    format: 'cjs',
    entryFileNames,
    minify: true,
    codeSplitting: false,
  })
  await bundle.close()
  return output[0]
}

/** `build` in the name: cached code must never run for another source. */
function loadedBeside(beside, isInlined = () => false, build = '') {
  return {
    name: 'loaded beside',
    resolveId(id, importer, { kind }) {
      if (kind !== 'dynamic-import') return null
      // Drivers, histories and setups, which hooks never load.
      if (importer.endsWith('harness/registry.ts')) return { id, external: true }
      if (isInlined(id)) return null
      const path = join(dirname(importer), id)
      const name = id.replace(/^.*\/(.*)\.ts$/, '$1')
      const file = `${['hook-load', name, build].filter(Boolean).join('-')}.cjs`
      beside.set(file, path)
      return { id: `./${file}`, external: true }
    },
  }
}

/** Code run as a script with cached code cannot import, but can require. */
function withRequire(code) {
  return code.replaceAll(
    /\bimport\(([`"'])(\.\/hook-load-[\w-]+\.cjs)\1\)/g,
    (_, _quote, file) => `Promise.resolve(require("${file}"))`,
  )
}

/** Escapes non-ASCII characters, which occur only in strings and regular expressions. */
function asAscii(code) {
  return code.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** With concurrent builds, the last one wins. */
function swap() {
  for (;;) {
    rmSync(old, { recursive: true, force: true })
    try {
      if (existsSync('dist')) renameSync('dist', old)
      renameSync(fresh, 'dist')
      return
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code) || !existsSync(fresh)) throw error
    }
  }
}

/** The licences of bundled packages have to be shipped with their code. */
function licences(chunks) {
  const packages = new Set()
  for (const chunk of chunks) {
    for (const id of chunk.type === 'chunk' ? chunk.moduleIds : []) {
      const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)
      if (found) packages.add(found[1])
    }
  }
  return [...packages]
    .sort()
    .map((name) => {
      const folder = join('node_modules', name)
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = readdirSync(folder).find((entry) => /^licen[sc]e/i.test(entry))
      const text =
        file && existsSync(join(folder, file))
          ? readFileSync(join(folder, file), 'utf8').trim()
          : `Licence: ${license}`
      return `${name} ${version}\n\n${text}\n`
    })
    .join('\n' + '-'.repeat(72) + '\n\n')
}
