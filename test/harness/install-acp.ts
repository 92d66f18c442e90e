import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Pinned: where Node is older than the agent requires, npm would take an old version that reports
// no compaction.
const PACKAGE = '@agentclientprotocol/claude-agent-acp'
const VERSION = '0.99.0'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const folder = join(root, 'node_modules', '.cache', 'stint-harness', `claude-agent-acp-${VERSION}`)

/** Claude Code, speaking the Agent Client Protocol. */
export const claudeAcpProgram = join(folder, 'node_modules', '.bin', 'claude-agent-acp')

export default function install(): void {
  if (existsSync(join(folder, 'node_modules'))) return
  console.log(`installing ${PACKAGE} ${VERSION}`)
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n')
  const args = [
    'install',
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--ignore-scripts',
    `${PACKAGE}@${VERSION}`,
  ]
  execFileSync('npm', args, { cwd: fresh, stdio: ['ignore', 'ignore', 'inherit'] })
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
}
