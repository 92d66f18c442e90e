// The cost of a hook over starting Node, with a session of 2,000 entries and a transcript of 50 MB.
// Each event runs as registered, through the shell, followed by `node -e 0` under the same load.
// The background hook runs before the next event, as in a harness; its CPU time is listed
// separately, because the agent does not wait for it.
import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'
import { median } from './paired.mjs'
import { runCpu, runWall } from './processes.mjs'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = {
  'src/project/store/workspace.ts': ['Workspace'],
  'src/project/store/refresh-views.ts': ['refreshViews'],
  'src/session/entries.ts': ['draftEntry'],
  'src/journal/ids.ts': ['mintId'],
  'src/text/tokens.ts': ['estimateTokens'],
}
const ROUNDS = 200
/** Until the transcript is copied, a few megabytes at a time. */
const WARM_UP = 16
/** By event: a start injects more text. */
const LIMITS = { wall: 1.2, CPU: 1.15 }
const START_LIMITS = { wall: 1.25, CPU: 1.15 }
const HANDLER_LIMIT = 2.5
/** Events that render the document and copy the transcript. */
const SAVING_LIMIT = 8
const SAVING = new Set(['Stop', 'PreCompact'])
/** Most characters that one event may inject. */
const MOST_TOKENS = 2000
const MOST_CHARACTERS = 8000
const CONVERSATION = '3f2c7b1e-0000-4000-8000-00000000be9c'

export async function run({ scale = 1, say = () => {} } = {}) {
  const rounds = Math.max(10, Math.round(ROUNDS * scale))
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-hooks-'))
  const bundle = await bundleSources(SOURCES)
  try {
    const modules = await import(pathToFileURL(bundle.file).href)
    const world = await makeWorld(modules, folder)
    say(`hooks: ${rounds} rounds of ${EVENTS.length} events`)
    const wall = measure(world, EVENTS, rounds, runWall)
    const cpu = measure(world, EVENTS, rounds, runCpu(folder))
    const injectedRows = injected(world, modules)
    const rare = measure(world, RARE, Math.max(5, Math.round(rounds / 5)), runWall)
    return [
      ...results('wall', wall),
      ...results('CPU', cpu),
      ...besideResults(cpu),
      ...rareResults(rare),
      ...injectedRows,
    ]
  } finally {
    bundle.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The events of one turn, in the order of a harness. */
const EVENTS = [
  {
    name: 'SessionStart (startup)',
    limits: START_LIMITS,
    fields: () => ({ hook_event_name: 'SessionStart', source: 'startup' }),
  },
  {
    name: 'UserPromptSubmit (ordinary)',
    fields: (round) => ({
      hook_event_name: 'UserPromptSubmit',
      prompt: `move handler ${round} behind the new interface`,
    }),
  },
  {
    name: 'PostToolUse (an edit)',
    fields: (round, { root }) => ({
      hook_event_name: 'PostToolUse',
      tool_name: 'Edit',
      tool_input: {
        file_path: join(root, `src/handlers/handler-${round % 7}.ts`),
        old_string: 'a',
        new_string: 'b',
      },
      tool_response: {
        filePath: join(root, `src/handlers/handler-${round % 7}.ts`),
        originalFile: 'x'.repeat(20_000),
      },
      tool_use_id: `toolu_e${round}`,
    }),
  },
  {
    name: 'PostToolUse (a command)',
    fields: (round) => ({
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls -la src/handlers' },
      tool_response: { stdout: 'handler-1.ts\n'.repeat(200), stderr: '' },
      tool_use_id: `toolu_c${round}`,
    }),
  },
  {
    name: 'PostToolUse (a test run)',
    fields: (round) => ({
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'npm test' },
      tool_response: { stdout: ` Tests  ${round + 1} passed (${round + 1})\n`, stderr: '' },
      tool_use_id: `toolu_b${round}`,
    }),
  },
  {
    name: 'SubagentStop',
    fields: () => ({
      hook_event_name: 'SubagentStop',
      agent_id: randomUUID(),
      agent_type: 'reviewer',
      last_assistant_message: 'Nothing found.',
    }),
  },
  {
    name: 'PreCompact',
    fields: () => ({ hook_event_name: 'PreCompact', trigger: 'manual', custom_instructions: null }),
  },
  {
    name: 'SessionStart (compact)',
    limits: START_LIMITS,
    fields: () => ({ hook_event_name: 'SessionStart', source: 'compact' }),
  },
  {
    name: 'UserPromptSubmit (continue)',
    fields: () => ({ hook_event_name: 'UserPromptSubmit', prompt: 'continue where we left off' }),
  },
  {
    name: 'Stop',
    fields: (round) => ({
      hook_event_name: 'Stop',
      stop_hook_active: false,
      last_assistant_message: `Handler ${round} is moved.`,
    }),
  },
  { name: 'SessionEnd', fields: () => ({ hook_event_name: 'SessionEnd', reason: 'other' }) },
]

/** Events that need the handler. The first and the last set up their conversation. */
const RARE = [
  EVENTS.find(({ name }) => name === 'SessionStart (startup)'),
  {
    name: 'UserPromptSubmit, after a commit',
    isRare: true,
    before: ({ root, env }) => {
      const who = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid']
      execFileSync('git', [...who, 'commit', '-q', '--allow-empty', '-m', 'more'], {
        cwd: root,
        env,
      })
    },
    fields: (round) => ({
      hook_event_name: 'UserPromptSubmit',
      prompt: `and now handler ${round}`,
    }),
  },
  {
    name: 'UserPromptSubmit, after a failed command',
    isRare: true,
    before: ({ transcript }) => {
      const content = [
        { type: 'tool_result', tool_use_id: randomUUID(), content: 'Exit code 1', is_error: true },
      ]
      const at = { uuid: randomUUID(), timestamp: new Date().toISOString() }
      appendFileSync(
        transcript,
        `${JSON.stringify({ type: 'user', ...at, message: { role: 'user', content } })}\n`,
      )
    },
    fields: (round) => ({
      hook_event_name: 'UserPromptSubmit',
      prompt: `once more with handler ${round}`,
    }),
  },
  {
    name: 'UserPromptSubmit, after a change of the settings',
    isRare: true,
    before: ({ root }, round) =>
      writeFileSync(
        join(root, '.sessions', 'config.yaml'),
        `budget:\n  smart_zone: ${90_000 + (round & 1)}\n`,
      ),
    fields: (round) => ({ hook_event_name: 'UserPromptSubmit', prompt: `then handler ${round}` }),
  },
  EVENTS.find(({ name }) => name === 'Stop'),
  EVENTS.find(({ name }) => name === 'SessionEnd'),
]

async function makeWorld({ Workspace, refreshViews, draftEntry, mintId }, folder) {
  const root = join(folder, 'project')
  execFileSync('git', ['init', '-q', '-b', 'main', root])
  const home = join(folder, 'home')
  mkdirSync(home)
  const env = { PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: join(folder, 'config') }
  execFileSync(process.execPath, [join(ROOT, 'dist', 'stint.js'), 'setup', 'claude'], {
    cwd: root,
    env,
    stdio: 'ignore',
  })
  const settings = JSON.parse(readFileSync(join(root, '.claude', 'settings.local.json'), 'utf8'))
  const commandOf = (event, which) => settings.hooks[event][0].hooks[which]?.command
  const command = commandOf('Stop', 0)
  const session = new Workspace(root).session(mintId(undefined))
  const made = [
    draftEntry('session.opened', {
      name: 'long',
      goal: 'Move every handler',
      git: { branch: 'main' },
    }),
  ]
  for (let index = 1; index < 2_000; index += 1)
    made.push(KINDS[index % KINDS.length](draftEntry, index))
  session.create(made)
  await refreshViews(session)
  session.close()
  const transcript = join(folder, `${CONVERSATION}.jsonl`)
  writeTranscript(transcript, 50 * 1024 * 1024)
  return { root, env, command, after: (event) => commandOf(event, 1), transcript }
}

/** A long session, mostly captured by hooks, with some entries by people. */
const KINDS = [
  (draftEntry, index) =>
    draftEntry('request.made', {
      text: `Move handler ${index} behind the new interface`,
      conversation: 'c',
    }),
  (draftEntry, index) =>
    draftEntry('file.changed', { path: `src/handlers/handler-${index % 200}.ts` }),
  (draftEntry, index) =>
    draftEntry('turn.ended', {
      conversation: 'c',
      said: `Handler ${index} is moved, and its tests pass.`,
    }),
  (draftEntry, index) => draftEntry('progress.made', { text: `Tests of handler ${index} pass` }),
  (draftEntry, index) =>
    draftEntry('test.ran', {
      command: 'npm test',
      passed: index % 2 === 0,
      summary: `${index} passed`,
    }),
  (draftEntry, index) =>
    draftEntry('discovery.made', { text: `Finding ${index}: the cache is keyed by host` }),
  (draftEntry, index) =>
    draftEntry('decision.made', { title: `Choice ${index}`, rationale: 'Simplest that works' }),
]

function writeTranscript(path, size) {
  const fd = openSync(path, 'w')
  const line = (index) =>
    index % 2 === 0
      ? {
          type: 'assistant',
          uuid: `a${index}`,
          timestamp: '2026-01-01T00:00:00.000Z',
          message: {
            id: `m${index}`,
            role: 'assistant',
            model: 'm',
            content: [{ type: 'text', text: 'word '.repeat(400) }],
            usage: {
              input_tokens: 3,
              cache_read_input_tokens: 90_000,
              cache_creation_input_tokens: 900,
              output_tokens: 300,
            },
          },
        }
      : {
          type: 'user',
          uuid: `u${index}`,
          timestamp: '2026-01-01T00:00:00.000Z',
          message: {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: `t${index}`, content: 'output '.repeat(600) },
            ],
          },
        }
  for (let index = 0, written = 0; written < size; index += 1)
    written += writeSync(fd, `${JSON.stringify(line(index))}\n`)
  closeSync(fd)
}

function measure(world, events, rounds, runOne) {
  const times = events.map(() => ({ hook: [], bare: [], after: [] }))
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const [index, event] of events.entries()) {
      event.before?.(world, round)
      const input = JSON.stringify({
        session_id: CONVERSATION,
        transcript_path: world.transcript,
        cwd: world.root,
        ...event.fields(round + WARM_UP, world),
      })
      const hook = () => runOne('/bin/sh', ['-c', world.command], world, input)
      const bare = () => runOne('node', ['-e', '0'], world, input)
      const order = round % 2 === 0 ? [hook, bare] : [bare, hook]
      const [first, second] = order.map((one) => one())
      const [ours, theirs] = round % 2 === 0 ? [first, second] : [second, first]
      writeDown(world.transcript, event, ours.stdout)
      const after = world.after(JSON.parse(input).hook_event_name)
      const beside =
        after === undefined ? undefined : runOne('/bin/sh', ['-c', after], world, input)
      if (round < 0) continue
      times[index].hook.push(ours.time)
      times[index].bare.push(theirs.time)
      if (beside !== undefined) times[index].after.push(beside.time)
    }
  }
  return times
}

/**
 * What the harness writes into its transcript: a compaction, the injected context and a response.
 */
function writeDown(path, { name }, stdout) {
  const at = { uuid: randomUUID(), timestamp: new Date().toISOString() }
  const lines =
    name === 'SessionStart (compact)'
      ? [{ ...at, uuid: randomUUID(), type: 'system', subtype: 'compact_boundary' }]
      : []
  const text = stdout.startsWith('{')
    ? JSON.parse(stdout).hookSpecificOutput?.additionalContext
    : undefined
  if (text !== undefined)
    lines.push({
      ...at,
      type: 'attachment',
      attachment: { type: 'hook_additional_context', content: [text] },
    })
  if (lines.length > 0)
    lines.push({
      ...at,
      uuid: randomUUID(),
      type: 'assistant',
      message: { id: at.uuid, content: [{ type: 'text', text: 'ok' }] },
    })
  for (const line of lines) appendFileSync(path, `${JSON.stringify(line)}\n`)
}

function results(label, times) {
  return EVENTS.map(({ name, limits = LIMITS }, index) => {
    const limit = limits[label]
    const ours = median(times[index].hook)
    const bare = median(times[index].bare)
    const ratio = ours / bare
    return {
      name: `hook ${name}, ${label}, against \`node -e 0\``,
      ours,
      bare,
      ratio,
      limit: `at most ${limit}`,
      ok: ratio <= limit,
    }
  })
}

/** The background hook of an event. */
function besideResults(times) {
  return EVENTS.flatMap(({ name }, index) => {
    if (times[index].after.length === 0) return []
    const [ours, bare] = [median(times[index].after), median(times[index].bare)]
    const row = `after ${name}, in the background while the agent works on, CPU, against \`node -e 0\``
    const ratio = ours / bare
    const isSaving = SAVING.has(name)
    const limit = isSaving ? `at most ${SAVING_LIMIT}` : 'none: nobody waits for it'
    return [{ name: row, ours, bare, ratio, limit, ok: !isSaving || ratio <= SAVING_LIMIT }]
  })
}

/** The cost of the handler. A config change loads the YAML parser once. */
function rareResults(times) {
  return RARE.flatMap(({ name, isRare = false }, index) => {
    if (!isRare) return []
    const [ours, bare] = [median(times[index].hook), median(times[index].bare)]
    const ratio = ours / bare
    return [
      {
        name: `handler of ${name}, wall, against \`node -e 0\``,
        ours,
        bare,
        ratio,
        limit: `at most ${HANDLER_LIMIT}`,
        ok: ratio <= HANDLER_LIMIT,
      },
    ]
  })
}

/** The injected characters of each event. */
function injected(world, { estimateTokens }) {
  return EVENTS.map(({ name, fields }) => {
    const conversation = '3f2c7b1e-0000-4000-8000-0000000000aa'
    const input = JSON.stringify({
      session_id: conversation,
      transcript_path: '/nowhere.jsonl',
      cwd: world.root,
      ...fields(1, world),
    })
    const { stdout } = spawnSync('/bin/sh', ['-c', world.command], {
      cwd: world.root,
      env: world.env,
      input,
      encoding: 'utf8',
    })
    const text = stdout.startsWith('{')
      ? (JSON.parse(stdout).hookSpecificOutput?.additionalContext ?? '')
      : stdout
    const tokens = estimateTokens(text)
    return {
      name: `put before the model by ${name} (estimated), against the most`,
      ours: tokens,
      bare: MOST_TOKENS,
      unit: 'tokens',
      ratio: Math.max(tokens / MOST_TOKENS, text.length / MOST_CHARACTERS),
      limit: 'at most 1',
      ok: tokens <= MOST_TOKENS && text.length <= MOST_CHARACTERS,
    }
  })
}
