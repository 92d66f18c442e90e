// Wrote test/fixtures/frozen/project.tar.gz once: a project with every kind of data that Stint writes. It must stay as that
// program wrote it, so this script refuses to overwrite it. With --again it creates another one with the current program.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  appendFileSync,
  statSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import {
  NODE,
  archive,
  buildStage,
  environment,
  filesWithNode,
  fixtures,
  home,
  hookProgram,
  KEPT,
  lockStage,
  program,
  project,
  replaceIn,
  run,
  stage,
  stampFiles,
  state,
} from './stage.mjs'

if (existsSync(archive) && !process.argv.includes('--again')) {
  console.error(
    'The frozen project is there already. Accept changed outputs with: npm run test:process -- test/frozen -u',
  )
  process.exit(2)
}
const unlock = await lockStage()
process.once('exit', unlock)
buildStage()

// The stage's clock. Each command starts on a full minute.
let clock = Date.parse('2026-03-02T09:00:00Z')
let unstampedSince = Infinity
// Hooks use precomputed responses only while their files stay unchanged.
let isStamping = true
const SCRIPT = '.sessions/rehearsal.yml'

// A repository with a few commits and two branches.
git('init', '-q', '-b', 'main', project)
git('config', 'user.name', 'Ann Example')
git('config', 'user.email', 'ann@example.invalid')
write('README.md', '# Sweeper\n\nSweeps what is left over.\n')
write(
  'package.json',
  '{\n  "name": "sweeper",\n  "scripts": { "test": "node --test", "lint": "eslint ." }\n}\n',
)
write('src/sweep.js', 'export function sweep() {\n  return []\n}\n')
write('test/sweep.test.js', "import { sweep } from '../src/sweep.js'\nsweep()\n")
write('AGENTS.md', '# For agents\n\n- Run `npm test` before you commit.\n')
write(
  '.agents/auditor.md',
  '---\nname: auditor\ndescription: Looks for leaks\n---\n\nRead every line twice.\n',
)
commit('start')
write('src/watch.js', 'export const watch = () => undefined\n')
commit('watch the folder')
write(
  '.sessions/config.yaml',
  'redact:\n  allow: ["EXAMPLE-TOKEN-0000"]\nbudget:\n  smart_zone: 90000\nprices:\n  "rehearsal*": { input: 1, output: 4, cache_read: 0.1, cache_write: 1.25 }\n',
)
later(30)

// The backlog.
stint(
  'task',
  'add',
  'Fix the sweep trigger',
  '--priority',
  'P1',
  '--size',
  'M',
  '--label',
  'bug',
  '--checklist',
  'Reproduce bug in test',
  '--checklist',
  'Implement fix',
  '--checklist',
  'Add regression test',
  '--description',
  'It fires twice when two watchers start at once.',
)
stint('task', 'add', 'Release', '--priority', 'P1')
stint(
  'task',
  'add',
  'Design the API',
  '--parent',
  'release',
  '--assign',
  'architect',
  '--checklist',
  'endpoints',
  '--checklist',
  'errors',
)
stint(
  'task',
  'add',
  'Write the client',
  '--parent',
  'release',
  '--depends',
  'design-the-api',
  '--group',
  'group2',
)
stint('task', 'add', 'Write the guide', '--parent', 'release', '--depends', 'design-the-api')
stint(
  'task',
  'change',
  'write-the-guide',
  '--group',
  'group2',
  '--assign',
  'documentation',
  '--label',
  'web',
)
stint('task', 'check', 'design-the-api', '1')
stint('task', 'add', 'Ask the vendor about quotas P3 !XS #ops')
stint('task', 'blocked', 'ask-the-vendor-about-quotas', '--summary', 'No answer yet')
stint('task', 'add', 'Try the other allocator')
stint('task', 'failed', 'try-the-other-allocator', '--summary', 'Slower in every case')

// A completed session with everything that `stint log` takes.
stint(
  'init',
  '--task',
  'fix-the-sweep-trigger',
  '--name',
  'fix-sweep-bug',
  '--goal',
  'Fix race condition causing intermittent sweep failures',
  '--title',
  'The sweep fires twice',
)
stint('log', '--step', 'Look at the watcher', '--step', 'Measure the lock')
stint(
  'log',
  '--done',
  'Reproduce bug in test',
  '--progress',
  'Found root cause: race condition in src/sweep.js:2',
)
stint(
  'log',
  '--discovery',
  'Lock ordering: watcher must lock before sweeper',
  '--gotcha',
  'The timer is unref()ed in tests',
  '--key',
  'Test command: npm test -- sweep',
)
stint(
  'log',
  '--decision',
  'Lock before check',
  '--context',
  'Fix the race without a refactor',
  '--options',
  'Lock before check',
  '--options',
  'Atomic state',
  '--choice',
  'Lock before check',
  '--rationale',
  'Simplest fix, performance impact minimal',
)
stint('log', '--decision', 'Keep the timer', '--rationale', 'Users configured it')
stint('log', '--blocker', 'Waiting on API docs', '--blocker', 'CI is red on main')
stint('log', '--blocker', 'Waiting on API docs', '--resolved', '--resolution', 'They came by mail')
stint('log', '--next', 'Add a race test', '--next', 'Ask Bob for a review')
stint('log', '--file', 'src/sweep.js', '--description', 'Where it fires')
stint(
  'log',
  '--file',
  'test/sweep.test.js',
  '--command',
  'npm test -- sweep',
  '--note',
  'Bob saw the same in 2024: "twice, then never"',
)
stint('log', '--current', 'Measure the lock', '--tldr', 'The lock is taken too late.')
const wrong = json('log', '--progress', 'Wrote this into the wrong session', '--json')
stint('log', '--retract', lastId(wrong), '--reason', 'Wrong session')
const clumsy = json('log', '--discovery', 'It lock twice', '--json')
stint('log', '--amend', lastId(clumsy), '--discovery', 'It locks twice')
stint('log', '--note', `The token was ghp_${'0123456789abcdefghijABCDEFGHIJ012345'}, do not use it`)
write('src/sweep.js', 'export function sweep() {\n  // the lock, half done\n  return []\n}\n')
stint('checkpoint', '--note', 'Before the refactor')
write('notes/untracked.txt', 'measured: 3 ms\n')
stint('checkpoint', '--pre-compact', '--tldr', 'Lock before check; the test is missing.')
stint('checkpoint', '--no-code', '--note', 'Only the journal')
editDocument('fix-sweep-bug', (text) => text.replace('- [ ] Implement fix', '- [x] Implement fix'))
stint('view')
editDocument('fix-sweep-bug', (text) =>
  text.replace('Simplest fix, performance impact minimal', 'Simplest fix; measured, 3 ms'),
)
stint('view')
editDocument('fix-sweep-bug', (text) =>
  text
    .replace('# Session: The sweep fires twice', '# Session: The sweep, fired twice')
    .replace(/^- \[ \] Look at the watcher.*\n/m, '')
    .replace('- [x] Reproduce bug in test', '- [ ] Reproduce bug in test')
    .replace('## Next Steps', "Measured on Ann's machine.\n\n## Next Steps")
    .replace(
      '<!-- stint:',
      '## Reading list\n\nThe paper on lock order, pages 3 to 5.\n\n<!-- stint:',
    ),
)
stint('view')
stint('log', '--done', 'Reproduce bug in test')
stint('handoff', 'create', '--reason', 'The context is nearly full')
stint('handoff', 'accept')
stint('handoff', 'create', '--draft', '--tokens', '1200')
commit('lock before check')
stint('log', '--done', 'Add regression test', '--goal', 'The sweep fires once')
stint('close', '--complete', '--force')
later(90)

// An abandoned session, which was completed before, and a paused one.
stint('init', '--name', 'other-allocator', '--goal', 'Try the other allocator')
stint(
  'log',
  '--progress',
  'Measured three allocators',
  '--decision',
  'None of them',
  '--rationale',
  'Slower in every case',
)
stint('close', '--complete')
stint('reopen', 'other-allocator')
stint('close', '--abandon', '--reason', 'Requirements changed', '--force')
stint('init', '--name', 'fix-auth', '--goal', 'Stop the login loop')
stint(
  'log',
  '--step',
  'Read the cookie code',
  '--step',
  'Write a test',
  '--progress',
  'The cookie has no path',
)
stint('pause', '--note', 'Switching to an urgent bug')
later(30)

// A workflow.
stint(
  'workflow',
  'init',
  'wf-001',
  'User authentication',
  '--goal',
  'People log in with a password',
)
stint('workflow', 'phase', 'wf-001', '--note', 'Three user stories, agreed with Ann')
stint('workflow', 'phase', 'wf-001', '4')
stint('workflow', 'approve', 'wf-001', '--note', 'Without single sign-on')
stint('workflow', 'phase', 'wf-001')
stint('workflow', 'set', 'wf-001', 'deliverables', 'test/login.test.js')
stint('workflow', 'set', 'wf-001', 'focus', 'only the login form')
stint('workflow', 'set', 'wf-001', 'deliverables', 'docs/login.md')
stint('workflow', 'set', 'wf-001', 'deliverables', 'docs/login.md', '--remove')
stint('workflow', 'phase', 'wf-001', '5b')
stint('handoff', 'create', 'wf-001', '--to', 'write-the-client')
stint('pause', '--session', 'wf-001')
later(600)

// Digested command outputs.
stint(
  'digest',
  '--label',
  'the suite',
  '--',
  'sh',
  '-c',
  'for n in 1 2 3 4 5; do echo "ok $n - sweeps $n"; done; echo "not ok 6 - sweeps once"; echo "Error: fired twice"; echo "    at sweep (src/sweep.js:2:3)"',
)
stint('digest', '--', 'sh', '-c', 'echo warning: deprecated; echo done')

// Histories of harnesses, written before Stint was used.
const claude = '13628210-bdde-4c7a-80a3-bda43477d1f8'
plant(join('.claude', 'projects', '-tmp-stint-frozen-project', `${claude}.jsonl`), 'claude.jsonl')
plant(
  join('.claude', 'projects', '-tmp-stint-frozen-project', claude, 'subagents', 'agent-a1.jsonl'),
  'claude-agent.jsonl',
)
plant(
  join(
    '.codex',
    'sessions',
    '2026',
    '11',
    '16',
    'rollout-2026-11-16T01-52-50-01a1e20e-9b9b-7803-8e74-e9610c03ee80.jsonl',
  ),
  'codex.jsonl',
)
plant(
  join('.gemini', 'tmp', 'project', 'chats', 'session-2026-11-16T01-52-9f9cfd9e.jsonl'),
  'gemini.jsonl',
)
writeAt(join(home, '.gemini', 'tmp', 'project', '.project_root'), project)
stint('import')

// Claude Code set up, with two conversations.
writeAt(
  join(project, '.claude', 'settings.local.json'),
  '{\n  "permissions": { "allow": ["Bash(npm test:*)"] }\n}\n',
)
stint('setup', 'claude')
git('checkout', '-q', '-b', 'feature/metrics')
stint('init', '--name', 'sweep-metrics', '--goal', 'Metrics for the sweeps')
stint(
  'log',
  '--step',
  'Count the sweeps',
  '--step',
  'Time the sweeps',
  '--key',
  'Milliseconds everywhere',
)
conversation('aaaaaaaa-0000-4000-8000-000000000001', (agent) => {
  const start = agent.send('SessionStart', { source: 'startup', model: 'claude-sonnet-4-5' })
  agent.received(start, 'SessionStart')
  agent.asks("Count the sweeps, but don't touch the migrations")
  agent.received(
    agent.send('UserPromptSubmit', { prompt: "Count the sweeps, but don't touch the migrations" }),
    'UserPromptSubmit',
  )
  agent.answers('I look at the code first.', 12_000)
  write('src/count.js', 'export let sweeps = 0\n')
  agent.tool(
    'Write',
    { file_path: join(project, 'src/count.js'), content: 'export let sweeps = 0\n' },
    { filePath: join(project, 'src/count.js') },
  )
  agent.tool(
    'Edit',
    { file_path: join(project, 'src/sweep.js'), old_string: 'a', new_string: 'b' },
    { filePath: join(project, 'src/sweep.js') },
  )
  agent.tool(
    'Bash',
    { command: 'npm test' },
    {
      stdout: '# tests 3\n# pass 2\n# fail 1\nnot ok 2 - counts\n',
      stderr: '',
      interrupted: false,
    },
  )
  agent.tool(
    'TodoWrite',
    {
      todos: [
        { content: 'Count the sweeps', status: 'in_progress', activeForm: 'Counting' },
        { content: 'Write the docs', status: 'pending', activeForm: 'Writing' },
      ],
    },
    {},
  )
  agent.tool(
    'Task',
    { description: 'Find the timers', prompt: 'Find every timer', subagent_type: 'research' },
    {
      content: [{ type: 'text', text: 'Two timers, both in watch.js' }],
      totalTokens: 1200,
      totalDurationMs: 900,
    },
  )
  agent.tool(
    'Bash',
    { command: 'npm run build' },
    { stdout: 'compiled one more module\n'.repeat(3000), stderr: '', interrupted: false },
  )
  commit('count the sweeps', 'src/count.js')
  agent.tool(
    'Bash',
    { command: 'git commit -m "count the sweeps"' },
    {
      stdout: `[feature/metrics ${git('rev-parse', '--short', 'HEAD').stdout.trim()}] count the sweeps\n 1 file changed, 1 insertion(+)\n`,
      stderr: '',
      interrupted: false,
    },
  )
  agent.answers('The sweeps are counted. Shall I time them too?', 140_000)
  agent.send('SubagentStop', { stop_hook_active: false })
  agent.send('Stop', {
    stop_hook_active: false,
    last_assistant_message: 'The sweeps are counted. Shall I time them too?',
  })
  agent.asks('Yes, use milliseconds')
  agent.received(
    agent.send('UserPromptSubmit', { prompt: 'Yes, use milliseconds' }),
    'UserPromptSubmit',
  )
  agent.answers('Milliseconds it is.', 150_000)
  agent.send('PreCompact', { trigger: 'auto', custom_instructions: '' })
  agent.compacts()
  agent.received(agent.send('SessionStart', { source: 'compact' }), 'SessionStart')
  agent.answers('Going on with the timing.', 20_000)
  agent.send('Stop', {
    stop_hook_active: false,
    last_assistant_message: 'Going on with the timing.',
  })
  agent.send('Notification', { message: 'Claude is waiting for your input' })
  agent.send('SessionEnd', { reason: 'prompt_input_exit' })
})
conversation('bbbbbbbb-0000-4000-8000-000000000002', (agent) => {
  agent.received(agent.send('SessionStart', { source: 'startup' }), 'SessionStart')
  agent.asks('Where were we?')
  agent.received(agent.send('UserPromptSubmit', { prompt: 'Where were we?' }), 'UserPromptSubmit')
  agent.answers('Timing the sweeps is next.', 15_000)
  agent.send('Stop', {
    stop_hook_active: false,
    last_assistant_message: 'Timing the sweeps is next.',
  })
})
stint('log', '--progress', 'Counting works', '--session', 'sweep-metrics')
later(60)

// Runs of the scripted agent: one with a false claim and a failing task, and a parallel one.
commit('settings', '.')
stint('task', 'add', 'Log each sweep P1 !S #run')
stint('task', 'add', 'Count the drops !S #run (depends: [log-each-sweep])')
stint('task', 'add', 'Port to the old kernel !S #run')
writeAt(
  join(project, SCRIPT),
  `tasks:
  log-each-sweep:
    - - write: { path: src/log.js, text: "// TODO: log it" }
      - commit: log each sweep
      - done: Each sweep is logged.
    - - write: { path: src/log.js, text: "export const log = console.log" }
      - commit: really log each sweep
      - usage: 95000
      - done: Each sweep is logged.
  count-the-drops:
    - - say: I look first.
      - run: stint log --decision "Count drops in the watcher" --rationale "It sees them first"
      - write: { path: src/drops.js, text: "export let drops = 0" }
      - commit: count the drops
      - compact: true
      - done: Drops are counted.
  port-to-the-old-kernel:
    - - say: I cannot do this.
      - failed: There is no old kernel here.
`,
)
const check = '! grep -rn TODO src'
stint(
  { mayFail: true },
  'run',
  '--harness',
  'rehearsal',
  '--script',
  SCRIPT,
  '--label',
  'run',
  '--verify',
  check,
)
stint('task', 'add', 'Write the runbook !S #wide')
stint('task', 'add', 'Write the glossary !S #wide')
stint('run', '--harness', 'rehearsal', '--label', 'wide', '--parallel', '2', '--verify', check)
stint('task', 'add', 'Tidy the logs !S #later')
stint('task', 'add', 'Tidy the tests !S #later')
stint(
  { mayFail: true },
  'run',
  '--harness',
  'rehearsal',
  '--label',
  'later',
  '--once',
  '--verify',
  check,
)

// Delegates: one merged, one ready, one failed, one discarded, one that only reads.
writeAt(
  join(project, SCRIPT),
  `tasks:
  time-each-sweep:
    - - write: { path: src/time.js, text: "export const ms = 0" }
      - commit: time each sweep
      - run: stint log --decision "Milliseconds" --rationale "What the dashboards read"
      - done: Each sweep is timed.
  label-each-sweep:
    - - write: { path: src/label.js, text: "export const label = 'sweep'" }
      - commit: label each sweep
      - done: Each sweep is labelled.
  break-each-sweep:
    - - say: I cannot do this.
      - failed: Nothing to break.
  paint-each-sweep:
    - - write: { path: src/paint.js, text: "export const colour = 'red'" }
      - commit: paint each sweep
      - done: Painted.
  research:
    - - write: { path: REPORT.md, text: "Those at midnight, because of the backup." }
      - done: Those at midnight, because of the backup.
`,
)
const background = ['--harness', 'rehearsal', '--script', SCRIPT, '--verify', check, '--wait']
stint('delegate', 'Time each sweep', ...background)
stint('merge', 'time-each-sweep')
stint({ mayFail: true }, 'delegate', 'Break each sweep', ...background)
stint('delegate', 'Paint each sweep', '--group', 'looks', ...background)
stint('delegate', 'discard', 'paint-each-sweep')
stint('delegate', 'Which sweeps are slow', '--as', 'research', ...background)
stint('delegate', 'Label each sweep', '--group', 'looks', '--files', 'src/label.js', ...background)

// A prompt, an export, and the views that reading creates: index, ledger, survey.
stint('prompt', '--harness', 'rehearsal', '--permissions', 'all', 'Why is the sweep slow?')
stint('export', '--format', 'markdown', '--output', 'sweep-metrics.md')
commit('the session so far', 'sweep-metrics.md')
stint('ledger', '--maintenance', '--done')
for (const args of [['list'], ['search', 'lock'], ['project'], ['ledger'], ['doctor']])
  stint(...args)

// The state after a killed agent and a person's edit: an event in the outbox and an unabsorbed edit.
isStamping = false
conversation('cccccccc-0000-4000-8000-000000000003', (agent) => {
  agent.received(agent.send('SessionStart', { source: 'startup' }), 'SessionStart')
  agent.asks('Go on with the timing')
  agent.send('UserPromptSubmit', { prompt: 'Go on with the timing' })
  agent.answers('I do.', 16_000)
  agent.tool(
    'Edit',
    { file_path: join(project, 'src/watch.js'), old_string: 'a', new_string: 'b' },
    { filePath: join(project, 'src/watch.js') },
  )
  agent.send('Stop', { stop_hook_active: false, last_assistant_message: 'I do.' })
  agent.asks('Then rest')
  agent.send('UserPromptSubmit', { prompt: 'Then rest' }, false)
})
isStamping = true
editDocument('fix-auth', (text) =>
  text.replace('- [ ] Read the cookie code', '- [x] Read the cookie code'),
)
pack()
console.log(
  `${archive}: ${statSync(archive).size} bytes; the clock ended at ${new Date(clock).toISOString()}`,
)

function pack() {
  rmSync(join(state, 'compiled'), { recursive: true, force: true })
  for (const path of filesWithNode()) replaceIn(path, process.execPath, NODE)
  mkdirSync(dirname(archive), { recursive: true })
  // pax keeps times to the nanosecond; hard links of logs under .git stay links.
  run('sh', [
    '-c',
    `tar --format=pax --pax-option=delete=atime,delete=ctime --sort=name --owner=0 --group=0 --numeric-owner -C ${stage} -cf - ${KEPT.join(' ')} | gzip -9n > '${archive}'`,
  ])
}

function step(work) {
  unstampedSince = Math.min(unstampedSince, Date.now() - 2)
  const shift = clock - Date.now()
  const result = work(environment(clock))
  if (isStamping) {
    stampFiles(unstampedSince, shift)
    unstampedSince = Infinity
  }
  // The next full minute.
  clock = Math.floor((Date.now() + shift) / 60_000 + 1) * 60_000
  return result
}

function later(minutes) {
  clock += minutes * 60_000
}

function stint(...args) {
  const options = typeof args[0] === 'object' ? args.shift() : {}
  const result = step((env) =>
    spawnSync(process.execPath, [program, ...args], {
      cwd: project,
      env,
      encoding: 'utf8',
      input: '',
    }),
  )
  console.log(`$ stint ${args.join(' ')}\n${result.stdout}${result.stderr}`)
  if (result.status !== 0 && options.mayFail !== true)
    throw new Error(`it ended with ${result.status ?? result.signal}`)
  return result.stdout
}

function json(...args) {
  return JSON.parse(stint(...args))
}

/** The id of the last recorded entry. */
function lastId(printed) {
  return printed.entries.at(-1).id
}

function git(...args) {
  return step((env) => run('git', args, { cwd: existsSync(project) ? project : stage, env }))
}

function commit(message, path = '.') {
  git('add', path)
  git('commit', '-qm', message)
}

function write(path, text) {
  writeAt(join(project, path), text)
}

function writeAt(path, text) {
  step(() => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  })
}

function plant(path, name) {
  writeAt(
    join(home, path),
    readFileSync(join(fixtures, 'histories', name), 'utf8')
      .replaceAll('/home/me/project', project)
      .replaceAll('2026-11-16T', '2026-02-16T'),
  )
}

function editDocument(name, edit) {
  const folder = join(project, '.sessions', 'active')
  const path = join(
    folder,
    readdirSync(folder).find((file) => file.startsWith(name)),
  )
  const before = readFileSync(path, 'utf8')
  const after = edit(before)
  if (after === before) throw new Error(`nothing was edited in ${path}`)
  writeAt(path, after)
}

/** A conversation of Claude Code: its events and its transcript. */
function conversation(id, talk) {
  const transcript = join(home, '.claude', 'projects', '-tmp-stint-frozen-project', `${id}.jsonl`)
  const FOLLOWED = new Set([
    'SessionStart',
    'UserPromptSubmit',
    'PreCompact',
    'Stop',
    'SubagentStop',
  ])
  let lines = 0
  let last = null
  const line = (fields) =>
    step(() => {
      lines += 1
      const uuid = `${id.slice(0, 8)}-0000-4000-8000-${String(lines).padStart(12, '0')}`
      const full = {
        parentUuid: last,
        uuid,
        sessionId: id,
        cwd: project,
        version: '2.1.325',
        gitBranch: 'feature/metrics',
        isSidechain: false,
        timestamp: new Date(clock).toISOString(),
        ...fields,
      }
      last = uuid
      mkdirSync(dirname(transcript), { recursive: true })
      appendFileSync(transcript, `${JSON.stringify(full)}\n`)
    })
  const agent = {
    send(event, fields, isFollowed = true) {
      const input = JSON.stringify({
        session_id: id,
        transcript_path: transcript,
        cwd: project,
        permission_mode: 'default',
        hook_event_name: event,
        ...fields,
      })
      const { stdout } = step((env) =>
        run(process.execPath, [hookProgram, 'hook'], { cwd: project, env, input }),
      )
      console.log(`$ hook ${event}\n${stdout}`)
      if (isFollowed && FOLLOWED.has(event))
        step((env) =>
          run(process.execPath, [hookProgram, 'hook', 'after'], { cwd: project, env, input }),
        )
      return stdout
    },
    received(printed, hookEvent) {
      const content = printed.startsWith('{')
        ? JSON.parse(printed).hookSpecificOutput?.additionalContext
        : printed
      if (content)
        line({
          type: 'attachment',
          attachment: { type: 'hook_additional_context', content: [content], hookEvent },
        })
    },
    asks: (content) => line({ type: 'user', message: { role: 'user', content } }),
    answers(text, context) {
      const usage = {
        input_tokens: 10,
        cache_read_input_tokens: context,
        cache_creation_input_tokens: 200,
        output_tokens: 30,
      }
      line({
        type: 'assistant',
        message: {
          id: `msg_${id[0]}${lines}`,
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [{ type: 'text', text }],
          usage,
        },
      })
    },
    tool(name, input, response) {
      const toolId = `toolu_${id[0]}${lines}`
      const usage = {
        input_tokens: 10,
        cache_read_input_tokens: 13_000,
        cache_creation_input_tokens: 200,
        output_tokens: 30,
      }
      line({
        type: 'assistant',
        message: {
          id: `msg_${id[0]}${lines}`,
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [{ type: 'tool_use', id: toolId, name, input }],
          usage,
        },
      })
      line({
        type: 'user',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: toolId, content: response.stdout ?? 'ok' }],
        },
      })
      agent.send('PostToolUse', {
        tool_name: name,
        tool_input: input,
        tool_response: response,
        tool_use_id: toolId,
      })
    },
    compacts() {
      line({
        type: 'system',
        subtype: 'compact_boundary',
        content: 'Conversation compacted',
        compactMetadata: { trigger: 'auto', preTokens: 167_000 },
      })
      line({
        type: 'user',
        isCompactSummary: true,
        message: { role: 'user', content: 'The sweeps are counted; timing them is next.' },
      })
    },
  }
  talk(agent)
}
