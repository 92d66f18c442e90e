import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { slashCommandFiles } from '../../src/harness/claude/setup/plugin.ts'
import { terminal } from '../support/cli.ts'

const files = [...slashCommandFiles()]

/**
 * Runs a slash command: executes what its file says, with the arguments where a client puts them.
 */
function typing() {
  const { run, stint, cwd } = terminal()
  const type = async (name: string, typed: string | undefined) => {
    const body = slashCommandFiles().get(`${name}.md`)!
    // Old versions leave the placeholder where there are no arguments.
    const given = typed === undefined ? body : body.replace('$ARGUMENTS', () => typed)
    // For a client the block ends at the next fence, for a shell the here-document ends at its
    // marker or at the end of input.
    const [, block] = /```!\n([\s\S]*?)```/.exec(given)!
    const [, command, mark, rest] = /^stint (.*) <<'(\w+)'\n([\s\S]*)$/.exec(block!)!
    const input = rest!.split(new RegExp(`^${mark!}$`, 'm'))[0]!
    const words = command!.replace('${CLAUDE_SESSION_ID}', 'conversation-1').split(' ')
    return run(words, { readStdin: async () => input })
  }
  return { type, stint, cwd }
}

describe('each slash command', () => {
  test.each(files)('%s describes itself, and may run only Stint', (_, text) => {
    const [, frontmatter] = /^---\n([\s\S]*?)\n---\n/.exec(text)!
    expect(parse(frontmatter!)).toEqual({
      description: expect.any(String),
      'argument-hint': expect.any(String),
      'allowed-tools': 'Bash(stint:*)',
    })
    // Old versions end the frontmatter at the first three dashes.
    expect(frontmatter).not.toContain('---')
  })

  test.each(files.map(([name]) => name.replace('.md', '')))(
    '%s without arguments prints text for any client',
    async (name) => {
      const { type } = typing()
      for (const typed of [undefined, '']) {
        const ran = await type(name, typed)
        expect(ran.stderr).toBe('')
        expect(ran.stdout).not.toBe('')
        expect(ran.stdout).not.toContain('ARGUMENTS')
      }
    },
  )
})

describe('typing a slash command', () => {
  test('runs the command with the typed arguments', async () => {
    const { type, stint } = typing()
    await type('session-init', '--name="fix-auth" --goal="Stop the login loop"')
    const logged = await type('session-log', '--decision "Using mutex" --rationale="it\'s simpler"')
    expect(logged.stdout).toContain('Using mutex')
    const document = (await stint('view', '--decisions')).stdout
    expect(document).toContain('Using mutex')
    expect(document).toContain("it's simpler")
    expect((await type('session-view', 'list')).stdout).toContain('fix-auth')
    expect((await type('session-close', '--complete')).stdout).toContain(
      'Session Completed: fix-auth',
    )
  })

  test('needs no quotes around words, and accepts an apostrophe', async () => {
    const { type, stint } = typing()
    await type('session-init', "--name it's-me --goal Don't loop")
    await type('session-log', '--progress it\'s done `here` & $HOME --next check "both" (twice)')
    const document = (await stint('view')).stdout
    expect(document).toContain("Don't loop")
    expect(document).toContain("it's done `here` & $HOME")
    expect(document).toContain('check both (twice)')
  })

  test('binds the conversation it is typed in', async () => {
    const { type, cwd } = typing()
    const [, id] = /ID: (\S+)/.exec((await type('session-init', '--name bound')).stdout)!
    const notes = readFileSync(
      join(cwd, '.git', 'stint', 'conversations', 'conversation-1.json'),
      'utf8',
    )
    expect(JSON.parse(notes)).toMatchObject({ session: id })
  })

  test('that fails prints the reason on standard output, where the model sees it', async () => {
    const { type } = typing()
    const ran = await type('session-log', '--progess x')
    expect(ran).toMatchObject({ stderr: '' })
    expect(ran.stdout).toContain('--progress')
    expect((await type('session-init', undefined)).stdout).toContain(
      '--name NAME, --goal TEXT or --task ID',
    )
  })

  test.each([
    ['a code fence', 'use\n```\ncode\n``` here'],
    ['a code fence in a line', 'use ```code``` here'],
    ['the end mark', 'before\nSTINT_ARGUMENTS_END\nafter'],
    ['the last line', 'before\nSTINT_ARGUMENTS_WHOLE\nafter'],
  ])('with %s in the arguments records nothing, and prints the alternative', async (_, text) => {
    const { type, stint } = typing()
    await type('session-init', '--name whole')
    const before = (await stint('view', '--json')).stdout
    const ran = await type('session-log', `--progress ${text}`)
    // The model does not see a failing command.
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toMatch(/Nothing was .*recorded[\s\S]*in the shell.*: stint log/)
    expect((await stint('view', '--json')).stdout).toBe(before)
  })

  test('with several lines in the arguments records them all', async () => {
    const { type, stint } = typing()
    await type('session-init', '--name lines')
    await type('session-log', '--progress "first line\nsecond STINT_ARGUMENTS_END line \\"')
    expect((await stint('view')).stdout).toMatch(/first line\s+second STINT_ARGUMENTS_END line/)
  })

  test('offers the next task with the name to start it by', async () => {
    const { type, stint } = typing()
    await stint('task', 'add', 'Fix the sweep')
    expect((await type('task-next', '')).stdout).toContain('fix-the-sweep')
    expect((await type('session-init', '--task fix-the-sweep')).stdout).toContain(
      'Session Initialized: fix-the-sweep',
    )
  })
})
