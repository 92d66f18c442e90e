import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ClaudeWorld } from './claude-world.ts'

export const hasTmux = ['/usr/bin/tmux', '/usr/local/bin/tmux', '/opt/homebrew/bin/tmux'].some(
  (path) => existsSync(path),
)

/** A terminal with the agent in it, as a user has it. */
export class Terminal {
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
    onTestFinished(() => {
      this.#tmux('kill-server')
    })
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], {
      cwd: this.world.project,
      encoding: 'utf8',
    })
  }

  get screen(): string {
    return this.#tmux('capture-pane', '-p')
  }

  /** Waits until the screen shows the text. */
  async shows(text: string | RegExp): Promise<string> {
    for (;;) {
      const { screen } = this
      if (typeof text === 'string' ? screen.includes(text) : text.test(screen)) return screen
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  /**
   * Types a text and submits it. Input right after a text counts as part of it, so Enter may be
   * needed again.
   */
  async type(text: string): Promise<void> {
    const start = text.slice(0, 20)
    this.#tmux('send-keys', '-l', text)
    await this.shows(start)
    do {
      await new Promise((resolve) => setTimeout(resolve, 500))
      this.#tmux('send-keys', 'Enter')
      await new Promise((resolve) => setTimeout(resolve, 500))
    } while (this.#inputLine.includes(start))
  }

  /** The last line that begins like the input line. */
  get #inputLine(): string {
    return this.screen.split('\n').findLast((line) => /^[❯>]/.test(line)) ?? ''
  }
}
