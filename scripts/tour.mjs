// A tour of one session, one run and two delegates with the real program in a temporary git
// project, and then of the page.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'stint.js')
const folder = mkdtempSync(join(tmpdir(), 'stint-tour-'))
const env = {
  ...process.env,
  HOME: folder,
  CLAUDE_CONFIG_DIR: join(folder, '.claude'),
  STINT_STATE_HOME: join(folder, '.state'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  CI: 'true',
}
for (const name of [
  'STINT_SESSION',
  'STINT_CONVERSATION',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_ENV_FILE',
  'STINT_RUN',
])
  delete env[name]
const project = join(folder, 'sweeper')

run('git', ['init', '-q', '-b', 'fix/sweep-trigger', project], folder)
for (const [key, value] of [
  ['user.name', 'Tour'],
  ['user.email', 'tour@example.invalid'],
])
  run('git', ['config', key, value])
writeFileSync(join(project, 'sweeper.go'), 'package sweep\n')
run('git', ['add', '.'])
run('git', ['commit', '-qm', 'start'])

say('Day 1. A task from the backlog, and a session on it')
stint(
  'task',
  'add',
  'Fix the sweep trigger',
  '--priority',
  'P1',
  '--checklist',
  'Reproduce bug in test',
  '--checklist',
  'Implement fix',
  '--checklist',
  'Add regression test',
)
stint('task', 'next')
stint(
  'init',
  '--task',
  'fix-the-sweep-trigger',
  '--name',
  'fix-sweep-bug',
  '--goal',
  'Fix race condition causing intermittent sweep failures',
)

say('The agent records as it works')
stint(
  'log',
  '--done',
  'Reproduce bug in test',
  '--progress',
  'Found root cause: race condition in sweeper.go:245',
)
stint(
  'log',
  '--discovery',
  'Lock ordering: chain_watcher must lock before sweeper',
  '--key',
  'Test command: go test -run TestSweepTrigger ./itest',
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
  '--rationale',
  'Simplest fix, performance impact minimal',
)
writeFileSync(join(project, 'sweeper.go'), 'package sweep\n\n// mutex, half done\n')
stint('checkpoint', '--note', 'Before the refactor')

say('The context fills up and is compacted')
stint('checkpoint', '--pre-compact')

say('A person ticks a box in the document, in any editor')
const active = join(project, '.sessions', 'active')
const document = join(
  active,
  readdirSync(active).find((name) => name.endsWith('.md')),
)
const before = readFileSync(document, 'utf8')
writeFileSync(document, before.replace('- [ ] Implement fix', '- [x] Implement fix'))
console.log(`  (${document.slice(folder.length + 1)}: "Implement fix" is ticked)`)

say('Day 2. A new conversation that knows nothing')
stint('resume')

say('With Claude Code: set up once, then nothing to type')
stint('setup', 'claude')
console.log(
  '\n(What Claude Code tells its hooks, told by this script; what they answer is what its model would read.)',
)
event({ hook_event_name: 'SessionStart', source: 'startup' })
event({ hook_event_name: 'UserPromptSubmit', prompt: "Use the mutex, don't touch the migrations" })
event({
  hook_event_name: 'PostToolUse',
  tool_name: 'Edit',
  tool_input: { file_path: join(project, 'sweeper.go') },
  tool_response: {},
})
event({ hook_event_name: 'PreCompact', trigger: 'auto' })
event({ hook_event_name: 'SessionStart', source: 'compact' })
stint('view', '--activity')

say('Done')
stint('log', '--done', 'Add regression test')
stint('close', '--complete')
stint('list')
stint('search', 'lock ordering')
stint('doctor')

say('A backlog, worked by an agent that follows a script: no model, no key')
stint('task', 'add', 'Log each sweep P1 !S')
stint('task', 'add', 'Count the sweeps !S (depends: [log-each-sweep])')
stint('task', 'add', 'Write the runbook !S')
const script = join(project, '.sessions', 'rehearsal.yml')
writeFileSync(
  script,
  `tasks:
  log-each-sweep:
    - - write: { path: log.go, text: "package sweep // TODO: log it" }
      - commit: log each sweep
      - done: Each sweep is logged.       # it is not
    - - write: { path: log.go, text: "package sweep // logs each sweep" }
      - commit: really log each sweep
      - usage: 95000                      # past the smart zone
      - done: Each sweep is logged.
`,
)
console.log(`\n$ cat ${script.slice(project.length + 1)}`)
process.stdout.write(indent(readFileSync(script, 'utf8')))
stint('plan', '--harness', 'rehearsal')
work(
  'run',
  '--harness',
  'rehearsal',
  '--script',
  '.sessions/rehearsal.yml',
  '--verify',
  '! grep -rn TODO *.go',
)
stint('runs')
git(
  'merge',
  '--quiet',
  run('git', ['branch', '--list', 'stint/run-*', '--format', '%(refname:short)']).stdout.trim(),
)
git('log', '--oneline', '-4')

say('Two delegates in the background; the second is sent back with its conflict')
git('commit', '-qam', 'check under the lock')
stint('init', '--name', 'sweep-metrics', '--goal', 'Metrics for the sweeps')
writeFileSync(
  script,
  `tasks:
  time-each-sweep:
    - - write: { path: log.go, text: "package sweep // logs each sweep and its time" }
      - commit: time each sweep
      - run: stint log --decision "Milliseconds" --rationale "What the dashboards read"
      - done: Each sweep is timed.
  label-each-sweep:
    - - write: { path: log.go, text: "package sweep // logs each sweep and its label" }
      - commit: label each sweep
      - done: Each sweep is labelled.
    - - run: git merge --quiet fix/sweep-trigger || true
      - write: { path: log.go, text: "package sweep // logs each sweep, its time and its label" }
      - commit: bring label and time together
      - done: Both are there.
`,
)
const background = [
  '--harness',
  'rehearsal',
  '--script',
  '.sessions/rehearsal.yml',
  '--verify',
  '! grep -rn TODO *.go',
]
stint('delegate', 'Time each sweep', ...background)
stint('delegate', 'Label each sweep', ...background)
stint('delegate', 'wait')
stint('delegates')
stint('merge', '--all', '--wait')
git('log', '--oneline', '--graph', '-6')
stint('view', '--decisions')

say('What was said, and the page that shows it all')
stint('history', '--all')

console.log(`
Everything above is in ${folder}
  the journal (the truth)    ${project}/.sessions/journal/*/log.jsonl
  the run, the delegates     ${project}/.sessions/runs/*/log.jsonl
  the document               ${project}/.sessions/archive/
  the backlog                ${project}/.tasks/
Try it there: cd ${project} && node ${program} view fix-sweep-bug`)
await serve()

function say(heading) {
  console.log(`\n── ${heading} ${'─'.repeat(Math.max(0, 76 - heading.length))}`)
}

function stint(...args) {
  console.log(`\n$ stint ${args.map(word).join(' ')}`)
  const { stdout, stderr } = run(process.execPath, [program, ...args])
  process.stdout.write(indent(stdout))
  process.stdout.write(indent(stderr))
}

function git(...args) {
  console.log(`\n$ git ${args.map(word).join(' ')}`)
  process.stdout.write(indent(run('git', args).stdout))
}

/** Serves the page until Ctrl-C on a terminal; otherwise only prints its address. */
async function serve() {
  console.log('\n$ stint serve')
  const isWatched = process.stdin.isTTY === true && process.stdout.isTTY === true
  const server = spawn(process.execPath, [program, 'serve', '--json'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise((resolve) => server.once('exit', resolve))
  // Ctrl-C reaches both processes; this one waits for the server.
  process.on('SIGINT', () => undefined)
  for await (const line of createInterface({ input: server.stdout })) {
    const { url } = JSON.parse(line)
    console.log(`  ${url}`)
    if (isWatched) console.log('  Ctrl-C ends it.')
    else {
      const answer = await fetch(url, { redirect: 'manual' })
      if (answer.status >= 400) throw new Error(`the page answers with ${answer.status}`)
      server.kill('SIGTERM')
    }
  }
  await exited
}

/** The output of a run without a terminal, minus the agent's messages and tools. */
function work(...args) {
  console.log(`\n$ stint ${args.map(word).join(' ')}`)
  const { stdout, stderr } = run(process.execPath, [program, ...args])
  const output = stderr
    .split('\n')
    .filter((line) => !/^\S+ {2}(?:“|\$ |edit |ctx |session \S+ closed)/.test(line))
  process.stdout.write(indent(`${output.join('\n')}${stdout}`))
}

function word(arg) {
  return /^[\w.:/-]+$/.test(arg) ? arg : `"${arg}"`
}

/** Sends one event to the hook program. */
function event(fields) {
  console.log(
    `\n$ stint hook   # ${fields.hook_event_name}${fields.source === undefined ? '' : `, ${fields.source}`}`,
  )
  const input = JSON.stringify({
    session_id: 'tour',
    cwd: project,
    transcript_path: join(folder, 'transcript.jsonl'),
    ...fields,
  })
  const { stdout } = run(process.execPath, [program, 'hook'], project, input)
  const answer = stdout.startsWith('{') ? JSON.parse(stdout) : { plain: stdout }
  const output = [
    answer.systemMessage,
    answer.hookSpecificOutput?.additionalContext,
    answer.plain,
  ].filter(Boolean)
  process.stdout.write(
    indent(output.length === 0 ? '(nothing to say)\n' : `${output.join('\n').trimEnd()}\n`),
  )
}

function run(command, args, cwd = project, input = '') {
  const result = spawnSync(command, args, { cwd, env, encoding: 'utf8', input })
  if (result.status === 0) return result
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`)
  throw new Error(
    `${command} ${args.join(' ')} ended with ${result.status ?? result.signal ?? result.error}`,
  )
}

function indent(text) {
  return text.replace(/^(?=.)/gm, '  ')
}
