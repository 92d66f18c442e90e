// Bundles the program and the library, and writes the library's types.
// Everything but the native SQLite module is bundled: unbundled, the imports alone cost more than the work.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(root)
// Built beside the one in use and put in its place when it is whole, for somebody may start it meanwhile.
const fresh = `dist.new-${process.pid}`
const old = `dist.old-${process.pid}`
process.once('exit', () => {
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true })
})

const bundle = await rolldown({
  input: { stint: 'src/bin/stint.ts', library: 'src/library.ts' },
  platform: 'node',
  external: [/^node:/, '@photostructure/sqlite'],
})
const { output } = await bundle.write({ dir: fresh, format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js', minify: false })
await bundle.close()

// Apart from the others, so that it shares no file with them: each one loaded costs time on every prompt.
const hook = await rolldown({ input: { hook: 'src/bin/hook.ts' }, platform: 'node', external: [/^node:/] })
const { output: hookOutput } = await hook.write({
  dir: fresh,
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/hook-[name]-[hash].cjs',
  minify: true,
})
await hook.close()
chmodSync(join(fresh, 'stint.js'), 0o755)
writeFileSync(join(fresh, 'THIRD-PARTY.txt'), licences([...output, ...hookOutput]))

const tsc = ['node_modules/typescript/bin/tsc', '-p', 'scripts/tsconfig.types.json', '--outDir', join(fresh, 'types')]
const types = spawnSync(process.execPath, tsc, { stdio: 'inherit' })
if (types.status !== 0) process.exit(types.status ?? 1)
swap()

/** Two builds at once may both find the place taken; the last one to come has it. */
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

/** The licences of what was bundled, because their text has to travel with their code. */
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
        file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`
      return `${name} ${version}\n\n${text}\n`
    })
    .join('\n' + '-'.repeat(72) + '\n\n')
}
