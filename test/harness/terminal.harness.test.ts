import { describe, expect, test } from 'vitest'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS } from './install.ts'
import { Terminal, hasTmux } from './terminal.ts'

describe.skipIf(!hasTmux)('in a real terminal', () => {
  test.each(CLAUDE_VERSIONS)(
    'Claude Code %s asks nothing, shows the session, and continues over a compaction and /clear',
    async (version) => {
      const world = await ClaudeWorld.create(version, { mcp: true })
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
      expect(JSON.stringify(anew.body)).toContain('mcp__stint__journal')
      expect(world.state().compactions).toBe(1)
      expect(world.ofKind('progress.made')).toEqual([{ text: 'Seen in a terminal' }])
    },
  )
})
