import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ClaudeWorld, type Turned } from './claude-world.ts'
import { CLAUDE_VERSIONS, type ClaudeVersion } from './install.ts'

/** A turn with an edit, and its result. */
async function turnIn(world: ClaudeWorld): Promise<Turned> {
  world.stub.script(
    { tools: [{ name: 'Write', input: { file_path: world.path('made.txt'), content: 'made' } }] },
    { text: 'the file is written' },
  )
  return world.ask('write the file')
}

/** Ways to break everything of ours. */
const BREAKAGES: Readonly<Record<string, (world: ClaudeWorld) => void>> = {
  'Stint is gone from the machine': (world) => {
    rmSync(join(world.root, 'home', '.local'), { recursive: true, force: true })
    rmSync(join(world.root, 'bin', 'stint'))
  },
  'the launcher is garbage': (world) => {
    writeFileSync(
      join(world.root, 'home', '.local', 'state', 'stint', 'launcher'),
      '/nowhere/node\t/nowhere/hook.cjs\n',
    )
  },
  'the journal is a folder': (world) => {
    const [session] = world.sessions
    const log = world.path('.sessions', 'journal', session!, 'log.jsonl')
    rmSync(log)
    mkdirSync(log)
  },
  'the journal is garbage': (world) => {
    const [session] = world.sessions
    writeFileSync(
      world.path('.sessions', 'journal', session!, 'log.jsonl'),
      Buffer.alloc(100_000, 0xfe),
    )
  },
  'the configuration is invalid': (world) =>
    writeFileSync(world.path('.sessions', 'config.yaml'), 'redact: [unclosed\n'),
  'the conversation state is garbage': (world) => {
    rmSync(world.path('.git', 'stint', 'conversations'), { recursive: true, force: true })
    writeFileSync(world.path('.git', 'stint', 'conversations'), 'not a folder')
  },
  '.sessions is a file': (world) => {
    renameSync(world.path('.sessions'), world.path('.sessions-away'))
    writeFileSync(world.path('.sessions'), 'not a folder')
  },
}

describe.each(CLAUDE_VERSIONS)(
  'Claude Code %s works and answers the same',
  (version: ClaudeVersion) => {
    test.each(Object.keys(BREAKAGES))('when %s', async (breakage) => {
      const world = await ClaudeWorld.create(version)
      world.stint('init', '--name', 'broken', '--goal', 'Be broken')
      BREAKAGES[breakage]!(world)
      const turned = await turnIn(world)
      expect(turned).toMatchObject({
        result: 'the file is written',
        is_error: false,
        subtype: 'success',
      })
      expect(readFileSync(world.path('made.txt'), 'utf8')).toBe('made')
    })

    test('when the model fails, and the next conversation gets the failure', async () => {
      const world = await ClaudeWorld.create(version)
      world.stint('init', '--name', 'failing', '--goal', 'See failures')
      const no = {
        error: {
          status: 400,
          type: 'invalid_request_error',
          message: 'the model said no to this request',
        },
      }
      world.stub.script(no, no, no, no, no, no, no, no)
      expect((await world.ask('do something that fails')).is_error).toBe(true)
      world.stub.forget()
      await world.ask('and now?')
      expect(world.stub.turns.at(-1)!.text).toContain('the model said no to this request')
    })

    test('when Stint is turned off for it', async () => {
      const world = await ClaudeWorld.create(version)
      world.env.STINT_HOOKS = 'off'
      await turnIn(world)
      expect(existsSync(world.path('.sessions'))).toBe(false)
    })

    test('when Stint is installed as a plugin, whose hooks and commands work', async () => {
      const world = await ClaudeWorld.create(version, { setup: false })
      const plugin = join(world.root, 'plugin')
      world.stint('setup', 'claude', '--plugin', plugin)
      world.stub.script(
        {
          tools: [{ name: 'Write', input: { file_path: world.path('made.txt'), content: 'made' } }],
        },
        { text: 'the file is written' },
      )
      await world.ask('write the file of the plugin', '--plugin-dir', join(plugin, 'stint'))
      expect(world.ofKind('file.changed')).toEqual([{ path: 'made.txt' }])
      await world.ask('/stint:session-view', '--plugin-dir', join(plugin, 'stint'))
      expect(world.stub.turns.at(-1)!.text).toContain('write the file of the plugin')
    })
  },
)
