import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS } from './install.ts'

const ends: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A terminal with the agent in it, as a person has it. */
class Terminal {
  readonly #socket = `stint-test-${process.pid}-${Math.random().toString(36).slice(2)}`

  constructor(readonly world: ClaudeWorld) {
    writeFileSync(
      join(world.root, 'cfg', '.claude.json'),
      JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['dummy'], rejected: [] },
        projects: { [world.project]: { hasTrustDialogAccepted: true } },
      }),
    )
    const env = Object.entries(world.env).map(([name, value]) => `${name}=${value}`)
    this.#tmux(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '180',
      '-y',
      '50',
      'env',
      '-i',
      ...env,
      world.program,
      '--permission-mode',
      'acceptEdits',
    )
    ends.push(() => {
      this.#tmux('kill-server')
    })
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { cwd: this.world.project, encoding: 'utf8' })
  }

  get screen(): string {
    return this.#tmux('capture-pane', '-p')
  }

  /** Waits until the screen shows it. */
  async shows(text: string | RegExp): Promise<string> {
    for (;;) {
      const { screen } = this
      if (typeof text === 'string' ? screen.includes(text) : text.test(screen)) return screen
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async type(text: string): Promise<void> {
    this.#tmux('send-keys', '-l', text)
    await new Promise((resolve) => setTimeout(resolve, 300))
    this.#tmux('send-keys', 'Enter')
  }
}

const hasTmux = ['/usr/bin/tmux', '/usr/local/bin/tmux', '/opt/homebrew/bin/tmux'].some((path) => existsSync(path))

describe.skipIf(!hasTmux)('in a real terminal', () => {
  test.each(CLAUDE_VERSIONS)(
    'the person of Claude Code %s sees the session, and goes on over a compaction and /clear',
    async (version) => {
      const world = await ClaudeWorld.create(version)
      world.stint('init', '--name', 'fix-sweep-bug', '--goal', 'Fix the sweep')
      world.stint(
        'log',
        '--step',
        'Reproduce it',
        '--step',
        'Fix it',
        '--done',
        'Reproduce it',
        '--key',
        'the lock is in sweeper.go',
      )
      const terminal = new Terminal(world)
      await terminal.shows('fix-sweep-bug · 1/2')
      world.stub.script({ text: 'I see the sweep.' })
      await terminal.type('have a look at the sweeper')
      await terminal.shows('I see the sweep.')
      expect(world.stub.turns.at(-1)!.text).toContain('the lock is in sweeper.go')
      await terminal.type('/compact')
      await terminal.shows(/Compacted|compacted/)
      world.stub.script({ text: 'Going on with it.' })
      await terminal.type('go on then')
      await terminal.shows('Going on with it.')
      expect(world.stub.turns.at(-1)!.text).toContain('the lock is in sweeper.go')
      world.stub.script({ text: 'Logged.' })
      await terminal.type('/session-log --progress "Seen in a terminal"')
      await terminal.shows('Logged.')
      await terminal.type('/clear')
      await terminal.shows(/^(?![\s\S]*Going on with it\.)/)
      world.stub.script({ text: 'Begun anew.' })
      await terminal.type('once more from the start')
      await terminal.shows('Begun anew.')
      const anew = world.stub.turns.at(-1)!
      expect(anew.text).toContain('the lock is in sweeper.go')
      expect(anew.text).not.toContain('go on then')
      expect(world.state().compactions).toBe(1)
      expect(world.ofKind('progress.made')).toEqual([{ text: 'Seen in a terminal' }])
    },
  )
})
