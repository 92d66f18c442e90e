// Claude Code from npm, in the version that the harness tests pin.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'stint-harness')

/** The path of the program, which is installed first. */
export function installedAgent(version, say) {
  const folder = join(CACHE, `claude-${version}`)
  if (!existsSync(join(folder, 'node_modules'))) {
    say(`installing Claude Code ${version}`)
    install(folder, `@anthropic-ai/claude-code@${version}`)
  }
  const modules = join(folder, 'node_modules')
  const native = `claude-code-${process.platform}-${process.arch}`
  const program = join(modules, '@anthropic-ai', native, 'claude')
  return existsSync(program) ? program : join(modules, '.bin', 'claude')
}

function install(folder, what) {
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n')
  // Without install scripts: the native program is a package of its own.
  const args = ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', what]
  execFileSync('npm', args, { cwd: fresh, stdio: ['ignore', 'ignore', 'inherit'] })
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
}
