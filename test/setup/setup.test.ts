import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  HOOK_COMMAND,
  AFTER_COMMAND,
  STATUS_LINE_COMMAND,
} from '../../src/harness/setup/hook-command.ts'
import { setupWorld } from './world.ts'

const EVENTS = [
  'SessionStart',
  'UserPromptSubmit',
  'PreCompact',
  'PostToolUse',
  'Stop',
  'SubagentStop',
  'SessionEnd',
]

/**
 * The events that every version knows. An unknown name makes an old version run no hooks at all.
 */
const OLD_EVENTS = new Set([...EVENTS, 'PreToolUse', 'Notification'])

const COMMANDS = [
  'init',
  'resume',
  'log',
  'checkpoint',
  'handoff',
  'view',
  'pause',
  'close',
  'list',
].map((name) => `session-${name}.md`)

const FOLLOWED = new Set(['SessionStart', 'UserPromptSubmit', 'PreCompact', 'Stop', 'SubagentStop'])

describe('a setup', () => {
  test('registers hooks, slash commands, a status line and the MCP server, all hidden from git', async () => {
    const { stint, local, settings, at, status } = setupWorld()
    const ran = await stint('setup', 'claude')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain('.claude/settings.local.json')
    expect(Object.keys(settings(local).hooks)).toEqual(EVENTS)
    expect(settings(local).statusLine).toEqual({ type: 'command', command: STATUS_LINE_COMMAND })
    expect(readdirSync(at('.claude', 'commands')).toSorted()).toEqual(
      [...COMMANDS, 'task-next.md'].toSorted(),
    )
    expect(existsSync(at('.mcp.json'))).toBe(true)
    expect(status()).toBe('')
  })

  test('registers a hook for every event, a background hook for most, and tool events only for changes', async () => {
    const { stint, local, settings } = setupWorld()
    await stint('setup', 'claude', '--notify')
    for (const [event, groups] of Object.entries(settings(local).hooks)) {
      expect(OLD_EVENTS).toContain(event)
      expect(groups).toEqual([
        {
          ...(event === 'PostToolUse'
            ? { matcher: expect.stringMatching(/^[A-Z]\w+(\|[A-Z]\w+)*$/) }
            : {}),
          hooks: [
            { type: 'command', command: HOOK_COMMAND, timeout: 5 },
            ...(FOLLOWED.has(event)
              ? [{ type: 'command', command: AFTER_COMMAND, async: true, timeout: 30 }]
              : []),
          ],
        },
      ])
    }
    const { matcher } = settings(local).hooks['PostToolUse']![0] as { matcher: string }
    expect(matcher.split('|')).toEqual(
      expect.arrayContaining(['Edit', 'Write', 'Bash', 'TodoWrite', 'ExitPlanMode', 'Task']),
    )
    for (const reading of ['Read', 'Grep', 'Glob', 'LS', 'WebFetch'])
      expect(matcher.split('|')).not.toContain(reading)
  })

  test.each([
    [[]],
    [['--shared']],
    [['--user']],
    [['--notify', '--instructions']],
    [['--no-status-line', '--no-mcp']],
  ])('that is repeated with %j changes nothing, and reports it', async (flags) => {
    const { stint, everything } = setupWorld()
    await stint('setup', 'claude', ...flags)
    const before = everything()
    const again = await stint('setup', 'claude', ...flags)
    expect(again.stdout).toContain('nothing changed')
    expect(everything()).toEqual(before)
  })

  test.each([
    ['local', [], '.claude/settings.local.json'],
    ['shared', ['--shared'], '.claude/settings.json'],
    ['user', ['--user'], undefined],
  ])('for %s writes to the settings of that scope', async (_, flags, path) => {
    const { stint, at, user, settings } = setupWorld()
    await stint('setup', 'claude', ...flags)
    expect(Object.keys(settings(path === undefined ? user : at(path)).hooks)).toEqual(EVENTS)
  })

  test('for a user follows CLAUDE_CONFIG_DIR', async () => {
    const { run, folder, env, settings } = setupWorld()
    const config = join(folder, 'elsewhere')
    await run(['setup', 'claude', '--user', '--instructions'], {
      env: { ...env, CLAUDE_CONFIG_DIR: config },
    })
    expect(Object.keys(settings(join(config, 'settings.json')).hooks)).toEqual(EVENTS)
    expect(readdirSync(config).toSorted()).toEqual(['CLAUDE.md', 'commands', 'settings.json'])
    expect(existsSync(join(folder, '.claude'))).toBe(false)
  })

  test('for a team can be committed, even after a local one', async () => {
    const { stint, status } = setupWorld()
    await stint('setup', 'claude')
    await stint('setup', 'claude', '--shared')
    expect(status()).toContain('?? .claude/settings.json')
    expect(status()).toContain('?? .claude/commands/session-init.md')
    expect(status()).not.toContain('settings.local.json')
  })

  test('in a linked worktree writes to that worktree, hidden from git', async () => {
    const { run, git, folder, settings } = setupWorld()
    const linked = join(folder, 'linked')
    git('worktree', 'add', '-q', linked)
    await run(['setup', 'claude'], { cwd: linked })
    expect(Object.keys(settings(join(linked, '.claude', 'settings.local.json')).hooks)).toEqual(
      EVENTS,
    )
    expect(git('-C', linked, 'status', '--porcelain', '--untracked-files=all')).toBe('')
  })

  test('from a subfolder writes to the root of the project', async () => {
    const { run, at, local } = setupWorld()
    mkdirSync(at('deep', 'inside'), { recursive: true })
    await run(['setup', 'claude'], { cwd: at('deep', 'inside') })
    expect(existsSync(local)).toBe(true)
    expect(existsSync(at('deep', 'inside', '.claude'))).toBe(false)
  })

  test.each([
    [
      'local',
      [],
      /older versions of claude read \.claude\/settings\.local\.json only if started in .*--user/,
    ],
    ['shared', ['--shared'], /claude reads \.claude\/settings\.json only if started in .*--user/],
    ['user', ['--user'], undefined],
  ])('from a subfolder prints where %s settings are read', async (_, flags, expected) => {
    const { run, stint, at, cwd } = setupWorld()
    mkdirSync(at('inside'))
    const inside = (await run(['setup', 'claude', ...flags], { cwd: at('inside') })).stdout
    const notes = inside.split('\n').filter((line) => line.includes('only if started in'))
    expect(notes).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)])
    if (expected !== undefined) expect(notes[0]).toContain(cwd)
    expect((await stint('setup', 'claude', ...flags)).stdout).not.toContain('only if started in')
    expect(
      (await run(['setup', 'claude', ...flags, '--remove'], { cwd: at('inside') })).stdout,
    ).not.toContain('only if started')
  })

  test('works without git', async () => {
    const { stint, everything, local } = setupWorld({ git: false })
    const before = everything()
    expect((await stint('setup', 'claude')).exitCode).toBe(0)
    expect(existsSync(local)).toBe(true)
    await stint('setup', 'claude', '--remove')
    expect(withoutState(everything())).toEqual(before)
  })

  test.each([[[]], [['--shared']]])(
    'without git with %j creates the sessions folder, and its removal deletes it',
    async (flags) => {
      const { stint, everything, at } = setupWorld({ git: false })
      const before = everything()
      expect((await stint('setup', 'claude', ...flags, '--dry-run')).stdout).toContain(
        '+++ .sessions/.gitignore',
      )
      expect(everything()).toEqual(before)
      expect((await stint('setup', 'claude', ...flags)).stdout).toContain(
        'created  .sessions/.gitignore',
      )
      expect(readdirSync(at('.sessions'))).toEqual(['.gitignore'])
      expect((await stint('setup', 'claude', ...flags)).stdout).toContain('nothing changed')
      rmSync(at('.sessions'), { recursive: true })
      await stint('setup', 'claude', ...flags)
      expect(existsSync(at('.sessions'))).toBe(true)
      const made = everything()
      expect((await stint('setup', 'claude', ...flags, '--remove', '--dry-run')).stdout).toContain(
        '--- .sessions/.gitignore',
      )
      expect(everything()).toEqual(made)
      await stint('setup', 'claude', ...flags, '--remove')
      expect(withoutState(everything())).toEqual(before)
      await stint('setup', 'claude', '--user')
      expect(existsSync(at('.sessions'))).toBe(false)
    },
  )

  test('without git keeps a sessions folder that is still needed or not empty', async () => {
    const { stint, at, write } = setupWorld({ git: false })
    await stint('setup', 'claude')
    await stint('setup', 'claude', '--shared')
    await stint('setup', 'claude', '--remove')
    expect(existsSync(at('.sessions'))).toBe(true)
    write(at('.sessions', 'conversations', 'one.json'), '{}')
    await stint('setup', 'claude', '--shared', '--remove')
    expect(readdirSync(at('.sessions')).toSorted()).toEqual(['.gitignore', 'conversations'])
    rmSync(at('.sessions'), { recursive: true })
    write(at('.sessions', '.gitignore'), 'mine\n')
    await stint('setup', 'claude')
    await stint('setup', 'claude', '--remove')
    expect(readFileSync(at('.sessions', '.gitignore'), 'utf8')).toBe('mine\n')
  })

  test('in a repository creates no sessions folder', async () => {
    const { stint, at } = setupWorld()
    await stint('setup', 'claude')
    expect(existsSync(at('.sessions'))).toBe(false)
  })

  test('updates hooks of another version, and keeps a requested notification', async () => {
    const { stint, local, read, write, settings } = setupWorld()
    await stint('setup', 'claude', '--notify')
    const newest = read(local)
    write(
      local,
      newest.replaceAll('"timeout": 5', '"timeout": 60').replaceAll('; exit 0', '; exit 0 # older'),
    )
    expect((await stint('setup', 'claude')).stdout).toContain(
      'changed  .claude/settings.local.json',
    )
    expect(settings(local)).toEqual(JSON.parse(newest))
  })

  test('removes the status line when it is not wanted', async () => {
    const { stint, local, settings } = setupWorld()
    await stint('setup', 'claude')
    await stint('setup', 'claude', '--no-status-line')
    expect(settings(local).statusLine).toBeUndefined()
    expect(Object.keys(settings(local).hooks)).toEqual(EVENTS)
  })

  test.each(['local', 'shared', 'user'] as const)(
    'keeps a status line in the %s settings, and reports it',
    async (scope) => {
      const world = setupWorld()
      const theirs = '{\n  "statusLine": { "type": "command", "command": "date" }\n}\n'
      world.write(world[scope], theirs)
      const ran = await world.stint('setup', 'claude')
      expect(ran.stdout).toContain(`no status line: ${world[scope]} has one`)
      expect(world.read(world[scope])).toContain(
        '"statusLine": { "type": "command", "command": "date" }',
      )
      if (scope !== 'local') expect(world.settings(world.local).statusLine).toBeUndefined()
    },
  )

  test('keeps a foreign slash command of the same name, and reports it', async () => {
    const { stint, at, write, read } = setupWorld()
    const path = at('.claude', 'commands', 'session-log.md')
    write(path, 'my own\n')
    const ran = await stint('setup', 'claude')
    expect(ran.stdout).toContain(`left alone: ${path} is not ours`)
    expect((await stint('setup', 'claude', '--remove')).stdout).toContain(`left alone: ${path}`)
    expect(read(path)).toBe('my own\n')
  })

  test('with --json lists every file it wrote', async () => {
    const { stint, local } = setupWorld()
    const answer = (await stint('setup', 'claude', '--json')).json<{
      changes: { path: string; change: string }[]
    }>()
    expect(answer).toMatchObject({
      harness: 'claude',
      scope: 'local',
      removed: false,
      isDryRun: false,
    })
    expect(answer.changes).toContainEqual({ path: local, change: 'create' })
    for (const { path } of answer.changes) expect(existsSync(path)).toBe(true)
  })
})

describe('settings that cannot be edited', () => {
  test.each([
    ['not JSON', '{ "hooks": {', 'not valid JSON'],
    ['comments', '{\n  // mine\n  "a": 1\n}', 'not valid JSON (line 2)'],
    ['a comma at the end', '{ "a": 1, }', 'not valid JSON'],
    ['a list', '[]', 'not a JSON object'],
    ['hooks that are a list', '{ "hooks": [] }', '"hooks" is not an object'],
    ['an event that is no list', '{ "hooks": { "Stop": {} } }', '"hooks.Stop" is not a list'],
  ])(
    'because they hold %s are refused, and nothing is written anywhere',
    async (_, text, reason) => {
      const { stint, local, write, everything } = setupWorld()
      write(local, text)
      const before = everything()
      for (const flags of [[], ['--instructions'], ['--remove']]) {
        const ran = await stint('setup', 'claude', ...flags)
        expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
        expect(ran.stderr).toContain(local)
        expect(ran.stderr).toContain(reason)
        expect(ran.stderr).toContain('correct it and run this again')
      }
      expect(everything()).toEqual(before)
      expect((await stint('setup', 'claude', '--json')).json()).toMatchObject({
        error: { code: 'SETTINGS_INVALID' },
      })
    },
  )

  test('because they are not UTF-8 are refused', async () => {
    const { stint, local, write } = setupWorld()
    const bytes = Buffer.from([0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d])
    write(local, bytes)
    expect((await stint('setup', 'claude')).stderr).toContain('is not UTF-8')
    expect(readFileSync(local).equals(bytes)).toBe(true)
  })

  test('because they are read-only are refused, and nothing is written anywhere', async () => {
    const { stint, local, write, everything } = setupWorld()
    write(local, '{}\n')
    chmodSync(local, 0o444)
    const before = everything()
    const ran = await stint('setup', 'claude')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain(`${local} cannot be written: it is read-only`)
    expect(everything()).toEqual(before)
  })

  test('because their folder is read-only, or a file, are refused', async () => {
    const { stint, at, write } = setupWorld()
    mkdirSync(at('.claude'))
    chmodSync(at('.claude'), 0o555)
    expect((await stint('setup', 'claude')).stderr).toContain(
      `${at('.claude')} cannot be written: it is read-only`,
    )
    chmodSync(at('.claude'), 0o755)
    rmSync(at('.claude'), { recursive: true })
    write(at('.claude'), 'a file')
    expect((await stint('setup', 'claude')).stderr).toContain(
      `${at('.claude')} cannot be written: it is not a folder`,
    )
  })

  test('do not block a setup in another scope', async () => {
    const { stint, user, write, local } = setupWorld()
    write(user, '{ broken')
    expect((await stint('setup', 'claude')).exitCode).toBe(0)
    expect(existsSync(local)).toBe(true)
  })
})

const FORMATTINGS: readonly (readonly [string, string])[] = [
  ['two spaces', '{\n  "model": "opus",\n  "permissions": { "allow": [] }\n}\n'],
  ['tabs and no newline at the end', '{\n\t"model": "opus"\n}'],
  ['CRLF', '{\r\n  "hooks": {\r\n    "Stop": []\r\n  },\r\n  "a": 1\r\n}\r\n'],
  ['one line', '{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}'],
  ['blanks everywhere', '\n\n{ "a" : [ ] ,\n\n  "hooks" : { "Stop" : [  ] }  }\n\n'],
  ['a byte-order mark', '\uFEFF{\n  "a": 1\n}\n'],
  ['nothing', ''],
  ['an empty object', '{}'],
]

describe('removing a setup', () => {
  test.each(FORMATTINGS)('from settings with %s restores the exact bytes', async (_, text) => {
    const { stint, local, write, everything } = setupWorld()
    write(local, text)
    const before = everything()
    await stint('setup', 'claude')
    expect(everything()).not.toEqual(before)
    const ran = await stint('setup', 'claude', '--remove')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(withoutState(everything())).toEqual(before)
  })

  test.each([[[]], [['--shared']], [['--user']], [['--instructions', '--notify']]])(
    'made with %j leaves no file and no folder behind',
    async (flags) => {
      const { stint, everything } = setupWorld()
      const before = everything()
      await stint('setup', 'claude', ...flags)
      await stint(
        'setup',
        'claude',
        '--remove',
        ...flags.filter((flag) => flag === '--shared' || flag === '--user'),
      )
      expect(withoutState(everything())).toEqual(before)
    },
  )

  test('after several setups restores the bytes from before the first', async () => {
    const { stint, local, write, everything } = setupWorld()
    write(local, '{ "a": 1 }')
    const before = everything()
    for (const flags of [['--no-status-line'], ['--notify'], ['--instructions'], []])
      await stint('setup', 'claude', ...flags)
    await stint('setup', 'claude', '--remove')
    expect(withoutState(everything())).toEqual(before)
  })

  test('after the user edited the settings removes only our parts', async () => {
    const { stint, local, write, read } = setupWorld()
    write(local, '{\n  "hooks": {\n    "Stop": []\n  }\n}\n')
    await stint('setup', 'claude')
    write(
      local,
      read(local)
        .replace('{\n', '{\n  "model": "opus",\n')
        .replace('"Stop": [', '"Stop": [ {"hooks":[]}, '),
    )
    await stint('setup', 'claude', '--remove')
    expect(read(local)).toBe(
      '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [ {"hooks":[]}\n    ]\n  }\n}\n',
    )
  })

  test('keeps a file that setup created and the user edited since', async () => {
    const { stint, local, write, read } = setupWorld()
    await stint('setup', 'claude')
    write(local, read(local).replace('{\n', '{\n  "model": "opus",\n'))
    await stint('setup', 'claude', '--remove')
    expect(JSON.parse(read(local))).toEqual({ model: 'opus' })
  })

  test('deletes a file that setup created, although a harness rewrote it with nothing added', async () => {
    const { stint, local, write, settings } = setupWorld()
    await stint('setup', 'claude')
    write(local, JSON.stringify(settings(local)))
    await stint('setup', 'claude', '--remove')
    expect(existsSync(local)).toBe(false)
  })

  test('after the user edited the settings and setup was repeated still removes only ours', async () => {
    const { stint, local, write, read } = setupWorld()
    await stint('setup', 'claude')
    write(local, read(local).replace('{\n', '{\n  "model": "opus",\n'))
    await stint('setup', 'claude', '--notify')
    await stint('setup', 'claude', '--remove')
    expect(JSON.parse(read(local))).toEqual({ model: 'opus' })
  })

  test('without a manifest recognises ours by content', async () => {
    const { stint, folder, local, write, settings, at, status } = setupWorld()
    write(
      local,
      '{\n  "hooks": {\n    "Stop": [{ "hooks": [{ "type": "command", "command": "mine" }] }]\n  }\n}\n',
    )
    const before = settings(local)
    await stint('setup', 'claude', '--instructions')
    rmSync(join(folder, 'state'), { recursive: true })
    await stint('setup', 'claude', '--remove')
    // The approval may be the user's own.
    expect(settings(local)).toEqual({ ...before, enabledMcpjsonServers: ['stint'] })
    expect(readdirSync(at('.claude', 'commands'))).toEqual([])
    expect(status()).toBe('?? .claude/settings.local.json\n?? CLAUDE.md\n')
  })

  test('keeps a slash command that the user changed, and reports it', async () => {
    const { stint, at, write, read } = setupWorld()
    await stint('setup', 'claude')
    const path = at('.claude', 'commands', 'session-view.md')
    write(path, `${read(path)}More.\n`)
    const ran = await stint('setup', 'claude', '--remove')
    expect(ran.stdout).toContain(`left alone: ${path}`)
    expect(readdirSync(at('.claude', 'commands'))).toEqual(['session-view.md'])
  })

  test('from one scope leaves the slash commands that the other needs', async () => {
    const { stint, at, status } = setupWorld()
    await stint('setup', 'claude')
    await stint('setup', 'claude', '--shared')
    const ran = await stint('setup', 'claude', '--remove')
    expect(ran.stdout).toContain(
      `the slash commands stay: ${at('.claude', 'settings.json')} needs them`,
    )
    expect(readdirSync(at('.claude', 'commands'))).toHaveLength(10)
    await stint('setup', 'claude', '--shared', '--remove')
    expect(existsSync(at('.claude', 'settings.json'))).toBe(false)
    expect(status()).toBe('')
  })

  test('where nothing is set up reports it and changes nothing', async () => {
    const { stint, everything } = setupWorld()
    const before = everything()
    for (const flags of [[], ['--shared'], ['--user']]) {
      const ran = await stint('setup', 'claude', '--remove', ...flags)
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
      expect(ran.stdout).toContain('Nothing of Stint is set up there')
    }
    expect(everything()).toEqual(before)
  })
})

describe('a dry run', () => {
  test.each([[[]], [['--shared', '--instructions']], [['--user']], [['--plugin', 'p']]])(
    'with %j writes nothing and shows the diff',
    async (flags) => {
      const { stint, everything } = setupWorld()
      const before = everything()
      const ran = await stint('setup', 'claude', '--dry-run', ...flags)
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
      expect(ran.stdout).toMatch(/(^|\n)--- \/dev\/null\n\+\+\+ .*\n@@ -0,0 \+1,\d+ @@\n\+/)
      expect(everything()).toEqual(before)
    },
  )

  test('shows what would change in existing settings, and no more', async () => {
    const { stint, local, write } = setupWorld()
    write(local, '{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "d": 4,\n  "e": 5\n}\n')
    const { stdout } = await stint('setup', 'claude', '--dry-run')
    expect(stdout).toContain(
      '--- .claude/settings.local.json\n+++ .claude/settings.local.json\n@@ -3,5 +3,',
    )
    expect(stdout).toContain('   "d": 4,\n-  "e": 5\n+  "e": 5,\n+  "hooks": {\n')
    expect(stdout).not.toContain('"a": 1')
  })

  test('of a removal shows what would be removed, and writes nothing', async () => {
    const { stint, everything } = setupWorld()
    await stint('setup', 'claude')
    const before = everything()
    const ran = await stint('setup', 'claude', '--remove', '--dry-run')
    expect(ran.stdout).toContain('--- .claude/settings.local.json\n+++ /dev/null\n@@ -1,')
    expect(everything()).toEqual(before)
  })
})

describe('a settings file that is a symbolic link', () => {
  test.each(['there', 'not there yet'])(
    'is written through with --yes, and stays a link: its target is %s',
    async (target) => {
      const { stint, folder, write, at, local, settings } = setupWorld()
      const real = join(folder, 'dotfiles', 'claude.json')
      mkdirSync(join(folder, 'dotfiles'))
      if (target === 'there') write(real, '{\n  "model": "opus"\n}\n')
      mkdirSync(at('.claude'))
      symlinkSync(real, local)
      await stint('setup', 'claude', '--yes')
      expect(lstatSync(local).isSymbolicLink()).toBe(true)
      expect(Object.keys(settings(real).hooks)).toEqual(EVENTS)
      await stint('setup', 'claude', '--remove', '--yes')
      expect(lstatSync(local).isSymbolicLink()).toBe(true)
      if (target === 'there') expect(readFileSync(real, 'utf8')).toBe('{\n  "model": "opus"\n}\n')
      else expect(existsSync(real)).toBe(false)
    },
  )
})

describe('the git exclude file', () => {
  test('lists what setup created, between marker lines, and keeps foreign lines', async () => {
    const { stint, exclude, write, read } = setupWorld()
    write(exclude, '# mine\n*.log')
    await stint('setup', 'claude')
    const text = read(exclude)
    expect(text).toMatch(
      /^# mine\n\*\.log\n# stint setup: begin\n(\/\.claude\/commands\/[\w-]+\.md\n){10}\/\.claude\/settings\.local\.json\n\/\.mcp\.json\n# stint setup: end\n$/,
    )
    await stint('setup', 'claude', '--remove')
    expect(read(exclude)).toBe('# mine\n*.log')
  })

  test('does not list a file that existed before', async () => {
    const { stint, exclude, write, read, local } = setupWorld()
    write(local, '{}\n')
    await stint('setup', 'claude')
    expect(read(exclude)).not.toContain('settings.local.json')
  })

  test.each([['--shared'], ['--user']])('gets no lines with %s', async (flag) => {
    const { stint, exclude, read } = setupWorld()
    const before = read(exclude)
    await stint('setup', 'claude', flag)
    expect(read(exclude)).toBe(before)
  })

  test('keeps lines added between, after and before the marker lines', async () => {
    const { stint, exclude, write, read } = setupWorld()
    const before = read(exclude)
    await stint('setup', 'claude')
    write(exclude, `*.tmp\n${read(exclude)}*.bak\n`)
    await stint('setup', 'claude', '--remove')
    expect(read(exclude)).toBe(`*.tmp\n${before}*.bak\n`)
  })
})

describe('the instructions', () => {
  test.each([
    [['CLAUDE.md', 'AGENTS.md'], 'CLAUDE.md'],
    [['AGENTS.md'], 'AGENTS.md'],
    [[], 'CLAUDE.md'],
  ])('beside %j are added to %s, and are removed again', async (files, chosen) => {
    const { stint, at, write, read, everything } = setupWorld()
    for (const name of files) write(at(name), `# ${name}\r\n\r\nLines.`)
    const before = everything()
    await stint('setup', 'claude', '--instructions')
    expect(read(at(chosen))).toContain('stint log --decision')
    expect(
      read(at(chosen)).startsWith(
        files.length === 0 ? '<!--' : `# ${chosen}\r\n\r\nLines.\r\n\r\n<!--`,
      ),
    ).toBe(true)
    await stint('setup', 'claude', '--remove')
    expect(withoutState(everything())).toEqual(before)
  })

  test('are removed from a file that the user kept editing', async () => {
    const { stint, at, write, read } = setupWorld()
    write(at('CLAUDE.md'), '# Mine\n')
    await stint('setup', 'claude', '--instructions')
    write(at('CLAUDE.md'), `${read(at('CLAUDE.md'))}\nMore of mine.\n`)
    await stint('setup', 'claude', '--remove')
    expect(read(at('CLAUDE.md'))).toBe('# Mine\n\nMore of mine.\n')
  })
})

describe('setup', () => {
  test.each([[[]], [['gemini']], [['--shared']]])(
    '%j names the program that has a setup',
    async (args) => {
      const { stint, everything } = setupWorld()
      const before = everything()
      const ran = await stint('setup', ...args)
      expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
      expect(ran.stderr).toContain('stint setup claude')
      expect(everything()).toEqual(before)
    },
  )

  test.each([
    ['claude --shared --user'],
    ['claude --plugin p --shared'],
    ['claude --plugin p --instructions'],
    ['claude --check --remove'],
    ['--check --user'],
  ])('%s is a usage error', async (line) => {
    const { stint } = setupWorld()
    expect((await stint('setup', ...line.split(' '), '--json')).json()).toMatchObject({
      error: { code: 'MISUSE' },
    })
  })
})

/** Without Stint's own folder, which stays when empty. */
function withoutState(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(files).filter(([path, content]) => {
    const isState = path === 'state' || path.startsWith('state/')
    if (isState && content !== 'folder') throw new Error(`${path} is left`)
    return !isState
  })
  return Object.fromEntries(entries)
}
