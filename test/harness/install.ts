import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Pinned: what hooks are told, and what transcripts hold, changes between versions. */
export const CLAUDE_VERSIONS = ['2.1.325', '2.0.77'] as const
export type ClaudeVersion = (typeof CLAUDE_VERSIONS)[number]

/** Where the program of a version is, once it is installed. */
export function claudeProgram(version: ClaudeVersion): string {
  const modules = join(folderFor(version), 'node_modules')
  // The native program lies in a package of its own; the one named `claude` needs its install script to have run.
  const native = join(modules, '@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude')
  return existsSync(native) ? native : join(modules, '.bin', 'claude')
}

export default function install(): void {
  for (const version of CLAUDE_VERSIONS) {
    const folder = folderFor(version)
    if (existsSync(join(folder, 'node_modules'))) continue
    console.log(`installing Claude Code ${version}`)
    const fresh = `${folder}.${process.pid}`
    mkdirSync(fresh, { recursive: true })
    writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n')
    const packages = [`@anthropic-ai/claude-code@${version}`]
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', ...packages], {
      cwd: fresh,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
  }
}

function folderFor(version: ClaudeVersion): string {
  return join(root, 'node_modules', '.cache', 'stint-harness', `claude-${version}`)
}
