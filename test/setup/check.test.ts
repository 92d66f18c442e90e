import type { SetupReport } from '../../src/harness/contract/setup.ts'
import { chmodSync, existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { launcherPath, launcherText } from '../../src/harness/setup/launcher.ts'
import { probeServer } from '../../src/harness/claude/setup/probe.ts'
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

/** The first response of an MCP server, which then exits. */
const SERVER = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id } = JSON.parse(line)
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { serverInfo: { name: 'stint', version: '1.2.3' } } }))
})
`

/** A project on a machine whose Stint is a script. */
function checkedWorld(options: { git?: boolean; script?: string; server?: string } = {}) {
  const world = setupWorld(options)
  const tools = join(world.folder, 'tools')
  mkdirSync(tools)
  symlinkSync(process.execPath, join(tools, 'node'))
  for (const tool of ['sh', 'sed']) symlinkSync(`/bin/${tool}`, join(tools, tool))
  symlinkSync('/usr/bin/dirname', join(tools, 'dirname'))
  const script = join(world.folder, 'stint-hook.cjs')
  writeFileSync(
    script,
    options.script ?? "require('fs').readFileSync(0); console.log('stint answers')",
  )
  const server = join(world.folder, 'stint.js')
  writeFileSync(server, options.server ?? SERVER)
  const launch = () =>
    world.write(
      launcherPath(join(world.folder, 'state')),
      launcherText({ node: process.execPath, hook: script }),
    )
  const notes =
    options.git === false
      ? world.at('.sessions', 'conversations')
      : world.at('.git', 'stint', 'conversations')
  const fire = (fired: unknown, name = 'one', more: object = { harness: 'claude' }) =>
    world.write(join(notes, `${name}.json`), JSON.stringify({ fired, ...more }))
  const check = async (...args: string[]) => {
    const ran = await world.run(['setup', ...args, '--check', '--json'], {
      env: { ...world.env, PATH: tools },
    })
    return { exitCode: ran.exitCode, report: ran.json<SetupReport>() }
  }
  const kinds = async () => (await check()).report.problems.map(({ kind }) => kind)
  return { ...world, tools, script, server, launch, notes, fire, check, kinds }
}

describe('a setup check', () => {
  test.each([[[]], [['claude']]])(
    'passes when hooks are registered, found and fired: %j',
    async (args) => {
      const { stint, launch, fire, check, local, script, at } = checkedWorld()
      await stint('setup', 'claude')
      launch()
      fire({ SessionStart: '2026-01-02T03:04:05.000Z', Stop: '2026-01-02T03:05:00.000Z' })
      const { exitCode, report } = await check(...args)
      expect(exitCode).toBe(0)
      expect(report).toMatchObject({
        isWorking: true,
        problems: [],
        disabledBy: [],
        command: { program: script, exitCode: 0, output: 'stint answers' },
        server: {
          places: [{ path: at('.mcp.json'), status: 'current' }],
          approval: 'approved',
          answer: { isWell: true, said: 'stint 1.2.3' },
        },
      })
      expect(report.places).toMatchObject([
        { scope: 'local', path: local, status: 'current', events: EVENTS },
        { scope: 'shared', status: 'none', events: [] },
        { scope: 'user', status: 'none', events: [] },
      ])
      expect(report.fired).toMatchObject({
        SessionStart: '2026-01-02T03:04:05.000Z',
        PreCompact: null,
      })
    },
  )

  test('prints its findings as text', async () => {
    const { stint, launch, fire, run, env } = checkedWorld()
    await stint('setup', 'claude')
    launch()
    fire({ SessionStart: '2026-01-02T03:04:05.000Z' })
    const { stdout, exitCode } = await run(['setup', '--check'], { env })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^registered {2}local {3}7 events {8}\.claude\/settings\.local\.json\n/)
    expect(stdout).toMatch(/\nserver {6}registered, approved, answers: \.mcp\.json\n/)
    expect(stdout).toMatch(/\nfired {7}SessionStart {6}2026-01-02T03:04/)
    expect(stdout).toMatch(/\n {12}PreCompact {8}never\n/)
    expect(stdout).toContain('Working.')
  })

  test('reports a missing setup and the command that fixes it', async () => {
    const { check } = checkedWorld()
    const { exitCode, report } = await check()
    expect(exitCode).toBe(1)
    expect(report.problems).toContainEqual({
      kind: 'not registered',
      what: 'no hooks are registered',
      advice: 'stint setup claude',
    })
  })

  test('prints the next step when hooks never fired', async () => {
    const { stint, launch, check } = checkedWorld()
    await stint('setup', 'claude')
    launch()
    const { exitCode, report } = await check()
    expect(exitCode).toBe(1)
    expect(report.problems).toEqual([
      {
        kind: 'never fired',
        what: expect.any(String),
        advice: expect.stringMatching(/start claude .*trusted.* prompt/),
      },
    ])
  })

  test.each([
    ['local', []],
    ['shared', ['--shared']],
    ['user', ['--user']],
  ] as const)(
    'of outdated %s settings prints the setup command to run again',
    async (scope, flags) => {
      const world = checkedWorld()
      await world.stint('setup', 'claude', ...flags)
      world.launch()
      world.fire({ Stop: '2026-01-02T03:05:00.000Z' })
      world.write(
        world[scope],
        world.read(world[scope]).replaceAll('"timeout": 5', '"timeout": 50'),
      )
      const { report } = await world.check()
      expect(report.places.find((place) => place.scope === scope)).toMatchObject({
        status: 'outdated',
        events: [],
      })
      expect(report.problems).toEqual([
        {
          kind: 'outdated',
          what: expect.stringContaining(world[scope]),
          advice: ['stint setup claude', ...flags].join(' '),
        },
      ])
    },
  )

  test.each(['local', 'shared', 'user'] as const)(
    'reports that the %s settings turn every hook off',
    async (scope) => {
      const world = checkedWorld()
      world.write(world[scope], '{"disableAllHooks":true}')
      await world.stint('setup', 'claude')
      world.launch()
      world.fire({ Stop: '2026-01-02T03:05:00.000Z' })
      const { report } = await world.check()
      expect(report.disabledBy).toEqual([world[scope]])
      expect(report.problems).toMatchObject([
        { kind: 'disabled', what: expect.stringContaining(world[scope]) },
      ])
    },
  )

  test('of unreadable settings names them', async () => {
    const { user, write, stint, launch, fire, kinds } = checkedWorld()
    await stint('setup', 'claude')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    write(user, '{ broken')
    expect(await kinds()).toEqual(['unreadable'])
  })

  test('counts an enabled plugin as registered', async () => {
    const { user, write, launch, fire, check } = checkedWorld()
    write(user, '{"enabledPlugins":{"stint@stint":true,"other@x":true}}')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    const { exitCode, report } = await check()
    expect(exitCode).toBe(0)
    expect(report.places[2]).toMatchObject({ status: 'none', plugin: 'stint@stint' })
  })

  test('reports that hooks run twice where settings and a plugin register them', async () => {
    const { user, write, stint, launch, fire, check } = checkedWorld()
    write(user, '{"enabledPlugins":{"stint@stint":true}}')
    const ran = await stint('setup', 'claude')
    expect(ran.stdout).toContain('claude plugin uninstall stint@stint')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    const { report } = await check()
    expect(report.problems).toMatchObject([
      { kind: 'twice', advice: expect.stringContaining('stint setup claude --remove') },
    ])
  })

  test('finds Stint by the launcher only, never in the project or on the PATH', async () => {
    const { stint, fire, check, launch, at, tools, script, write } = checkedWorld()
    await stint('setup', 'claude')
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    for (const path of [join(tools, 'stint'), at('node_modules', '.bin', 'stint')]) {
      write(path, '#!/bin/sh\necho stint answers\n')
      chmodSync(path, 0o755)
    }
    expect((await check()).report).toMatchObject({
      command: { program: null },
      problems: [{ kind: 'not found', advice: 'stint setup claude' }],
    })
    launch()
    expect((await check()).report).toMatchObject({ command: { program: script }, problems: [] })
  })

  test.each([
    ['says something', "require('fs').readFileSync(0); console.log('hello')", 0, 'hello'],
    ['fails', "require('fs').readFileSync(0); console.error('oh'); process.exit(2)", 0, ''],
  ])('fails for a hook that %s when it is probed', async (_, script, exitCode, output) => {
    const { stint, launch, fire, check } = checkedWorld({ script })
    await stint('setup', 'claude')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    const { report } = await check()
    expect(report.command).toMatchObject({ exitCode, output })
    expect(report.problems).toMatchObject([
      { kind: 'not answering', what: expect.stringContaining(output) },
    ])
  })

  test('probes the hook with an event that belongs to no conversation', async () => {
    const { stint, launch, check, cwd, read, folder } = checkedWorld({
      script:
        "require('fs').writeFileSync(process.env.STINT_STATE_HOME + '/seen', require('fs').readFileSync(0))",
    })
    await stint('setup', 'claude')
    launch()
    await check()
    expect(JSON.parse(read(join(folder, 'state', 'seen')))).toEqual({
      hook_event_name: 'StintProbe',
      session_id: '',
      cwd,
    })
  })

  test('uses the latest firing of each event, and skips what it cannot read', async () => {
    const { launch, fire, check, notes, write } = checkedWorld()
    launch()
    fire({ Stop: '2026-01-01T00:00:00Z', SessionStart: '2026-03-01T00:00:00Z' }, 'one')
    fire({ Stop: '2026-02-01T00:00:00+01:00', SessionStart: 'not a time', PreCompact: 7 }, 'two')
    fire({ Stop: '2026-12-01T00:00:00Z' }, 'another-harness', { harness: 'codex' })
    fire('nothing', 'three')
    write(join(notes, 'half.json'), '{"fired":')
    mkdirSync(join(notes, 'folder.json'))
    const { report } = await check()
    expect(report.fired).toMatchObject({
      Stop: '2026-01-31T23:00:00.000Z',
      SessionStart: '2026-03-01T00:00:00.000Z',
      PreCompact: null,
    })
  })

  test('reads only the two hundred newest conversations', async () => {
    const { launch, fire, check, notes } = checkedWorld()
    launch()
    for (let index = 0; index < 201; index += 1) {
      fire({ [index === 0 ? 'Stop' : 'SessionStart']: '2026-01-01T00:00:00Z' }, `c${index}`)
      utimesSync(join(notes, `c${index}.json`), 1000 + index, 1000 + index)
    }
    expect((await check()).report.fired).toMatchObject({
      Stop: null,
      SessionStart: '2026-01-01T00:00:00.000Z',
    })
  })

  test('from a subfolder notes where settings are read, unless they are for every project', async () => {
    const { stint, run, launch, fire, at, env, cwd } = checkedWorld()
    mkdirSync(at('inside'))
    await stint('setup', 'claude', '--shared')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    const check = async (folder: string) => run(['setup', '--check'], { env, cwd: folder })
    const inside = await check(at('inside'))
    expect(inside).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`.claude/settings.json only if started in ${cwd}`),
    })
    expect((await check(cwd)).stdout).not.toContain('only if started in')
    await stint('setup', 'claude')
    expect((await check(at('inside'))).stdout).toContain(
      'older versions of claude read .claude/settings.local.json only if',
    )
    await stint('setup', 'claude', '--user')
    expect((await check(at('inside'))).stdout).not.toContain('only if started in')
  })

  test('works without git', async () => {
    const { stint, launch, fire, check } = checkedWorld({ git: false })
    await stint('setup', 'claude')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    expect((await check()).exitCode).toBe(0)
  })

  test('reports a folder without git and without sessions', async () => {
    const { stint, launch, kinds, check } = checkedWorld({ git: false })
    await stint('setup', 'claude', '--user')
    launch()
    const { exitCode, report } = await check()
    expect(exitCode).toBe(1)
    expect(report.problems).toEqual([
      {
        kind: 'no project',
        what: expect.stringContaining('neither a git repository nor has sessions'),
        advice: expect.stringContaining('stint setup claude'),
      },
    ])
    await stint('setup', 'claude')
    expect(await kinds()).toEqual(['never fired'])
  })

  test.each([
    ['ends', 'process.exit(3)', 'it ended with 3'],
    ['says something else', "console.log('hello'); process.stdin.resume()", 'it said: hello'],
  ])('fails for a server that %s when it is started', async (_, server, said) => {
    const { stint, launch, fire, check } = checkedWorld({ server })
    await stint('setup', 'claude')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    const { report } = await check()
    expect(report.problems).toMatchObject([
      { kind: 'server not answering', what: expect.stringContaining(said) },
    ])
  })

  test('waits only so long for a silent server', async () => {
    const { cwd, env } = checkedWorld()
    const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] }
    const answer = await probeServer(silent, { root: cwd, gitCommonDir: undefined, env }, 50)
    expect(answer).toEqual({ isWell: false, said: 'nothing within 0.05 seconds' })
  })

  test('reports once that no Stint is found, although the server finds none either', async () => {
    const { stint, fire, check } = checkedWorld()
    await stint('setup', 'claude')
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    const { report } = await check()
    expect(report.server.answer).toEqual({ isWell: false, said: 'it finds no Stint' })
    expect(report.problems).toMatchObject([{ kind: 'not found' }])
  })

  test.each([
    ['left out', ['--no-mcp'], '', null, []],
    ['refused', [], '{"disabledMcpjsonServers":["stint"]}', 'refused', []],
    ['left to be asked about', ['--shared'], '', 'asked', []],
    [
      'approved with all others',
      ['--shared'],
      '{"enableAllProjectMcpServers":true}',
      'approved',
      [],
    ],
  ])('passes where the server is %s', async (_, flags, settings, approval, problems) => {
    const { stint, launch, fire, check, user, write } = checkedWorld()
    if (settings !== '') write(user, settings)
    await stint('setup', 'claude', ...flags)
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    const { report } = await check()
    expect(report).toMatchObject({ problems, server: { approval } })
    expect(report.server.places).toHaveLength(approval === null ? 0 : 1)
  })

  test('reports a server added by hand and a disabled one, and starts neither', async () => {
    const { stint, launch, fire, check, at, folder, write, cwd } = checkedWorld()
    await stint('setup', 'claude', '--no-mcp')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    const own = join(folder, '.claude.json')
    write(own, JSON.stringify({ mcpServers: { stint: { command: 'x' } } }))
    write(
      at('.mcp.json'),
      JSON.stringify({ mcpServers: { stint: { command: 'touch', args: [at('started')] } } }),
    )
    const byHand = (await check()).report
    expect(byHand.server).toEqual({
      places: [
        { path: at('.mcp.json'), status: 'other' },
        { path: own, status: 'other' },
      ],
      approval: null,
      answer: null,
    })
    expect(byHand.problems).toEqual([])
    expect(existsSync(at('started'))).toBe(false)
    write(at('.mcp.json'), '')
    await stint('setup', 'claude', '--mcp')
    write(own, JSON.stringify({ projects: { [cwd]: { disabledMcpServers: ['stint'] } } }))
    expect((await check()).report.server).toMatchObject({ approval: 'refused' })
  })

  test('of a server of another version prints the command to run, and starts our own', async () => {
    const { stint, launch, fire, check, at, read, write } = checkedWorld()
    await stint('setup', 'claude')
    launch()
    fire({ Stop: '2026-01-02T03:05:00.000Z' })
    write(at('.mcp.json'), read(at('.mcp.json')).replace('"command": "sh"', '"command": "false"'))
    const { report } = await check()
    expect(report.server).toMatchObject({
      places: [{ status: 'outdated' }],
      answer: { isWell: true },
    })
    expect(report.problems).toMatchObject([{ kind: 'server outdated' }])
  })

  test('changes nothing', async () => {
    const { stint, check, everything } = checkedWorld()
    await stint('setup', 'claude')
    const before = everything()
    await check()
    expect(everything()).toEqual(before)
  })
})
