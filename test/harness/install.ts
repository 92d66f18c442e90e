import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const cache = join(root, 'node_modules', '.cache', 'stint-harness')

/** Pinned: hook input and transcripts change between versions. */
export const CLAUDE_VERSIONS = ['2.1.325', '2.0.77'] as const
export type ClaudeVersion = (typeof CLAUDE_VERSIONS)[number]

/** The path of a version's program, which is installed first. */
export function claudeProgram(version: ClaudeVersion): string {
  const modules = join(folderFor(version), 'node_modules')
  // The native program is in a separate package; the one named `claude` needs its install script to
  // run.
  const native = join(
    modules,
    '@anthropic-ai',
    `claude-code-${process.platform}-${process.arch}`,
    'claude',
  )
  return existsSync(native) ? native : join(modules, '.bin', 'claude')
}

export const CODEX_VERSION = '0.166.0'
const codexFolder = join(cache, `codex-${CODEX_VERSION}`)

/** The path of Codex, which is installed first. */
export function codexProgram(): string {
  const vendor = join(codexFolder, 'node_modules', 'codex-native', 'vendor')
  const [target] = existsSync(vendor) ? readdirSync(vendor) : []
  return join(vendor, target ?? '', 'bin', 'codex')
}

export default function install(): void {
  for (const version of CLAUDE_VERSIONS)
    installOnce(
      `Claude Code ${version}`,
      folderFor(version),
      `@anthropic-ai/claude-code@${version}`,
    )
  // The native program is published as a separate version per platform; the package around it only
  // finds and starts it.
  const native = `codex-native@npm:@openai/codex@${CODEX_VERSION}-${process.platform}-${process.arch}`
  installOnce(`Codex ${CODEX_VERSION}`, codexFolder, native)
}

function installOnce(name: string, folder: string, what: string): void {
  if (existsSync(join(folder, 'node_modules'))) return
  console.log(`installing ${name}`)
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n')
  execFileSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', what],
    {
      cwd: fresh,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
}

function folderFor(version: ClaudeVersion): string {
  return join(cache, `claude-${version}`)
}
