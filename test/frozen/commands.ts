// The commands replayed over the frozen project. Each group runs in order on a fresh copy.

export interface Command {
  /** The name of the test and of the file with the expected output. */
  readonly name: string
  /** A command line, an event for the hook, or a request to the server or the MCP server. */
  readonly args?: readonly string[]
  readonly event?: Readonly<Record<string, unknown>>
  readonly get?: string
  readonly mcp?: { readonly method: string; readonly params?: Readonly<Record<string, unknown>> }
  readonly stdin?: string
  /** A shell script to run first. */
  readonly before?: string
  /** The parts of the output that depend on the time taken. */
  readonly volatile?: readonly (readonly [RegExp, string])[]
}

// The column width depends on the content.
const DURATIONS = [/ *\b\d+s(?= |,|$)/gm, ' <s>'] as const
const CLOCK = [/^\d\d:\d\d:\d\d /gm, '<clock> '] as const
// Depends on the machine.
const MACHINE = [
  [/\d+ GB/g, '<n> GB'],
  [/Node [\d.]+, SQLite [\d.]+/g, 'Node <version>, SQLite <version>'],
] as const
// The estimate depends on the digits of new ids.
const SIZE = [/Size: \d+ tokens/g, 'Size: <n> tokens'] as const
const BYTES = [/"bytes": \d+/g, '"bytes": <n>'] as const

export interface Group {
  readonly name: string
  /** Whether appended entries and changed files are compared. */
  readonly isWriting: boolean
  /** Hooks use precomputed responses only while their files stay unchanged. */
  readonly isUnstamped?: true
  readonly commands: readonly Command[]
}

const line = (text: string, more: Partial<Command> = {}): Command => {
  const args = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
  return { name: text.replaceAll('"', ''), args, ...more }
}
const withAndWithoutJson = (text: string): readonly Command[] => [
  line(text),
  line(`${text} --json`),
]

const CONVERSATION = 'dddddddd-0000-4000-8000-000000000004'
const transcript =
  '/tmp/stint-frozen/home/.claude/projects/-tmp-stint-frozen-project/dddddddd-0000-4000-8000-000000000004.jsonl'
const event = (
  hook_event_name: string,
  more: Readonly<Record<string, unknown>>,
  before?: string,
): Command => ({
  name: `hook ${hook_event_name} ${String(more['source'] ?? more['tool_name'] ?? '')}`.trim(),
  event: {
    session_id: CONVERSATION,
    transcript_path: transcript,
    cwd: '/tmp/stint-frozen/project',
    permission_mode: 'default',
    hook_event_name,
    ...more,
  },
  ...(before === undefined ? {} : { before }),
})
const transcriptLine = (uuid: string, fields: Readonly<Record<string, unknown>>): string => {
  const full = {
    uuid,
    sessionId: CONVERSATION,
    cwd: '/tmp/stint-frozen/project',
    isSidechain: false,
    timestamp: '2026-03-05T10:00:00.000Z',
    ...fields,
  }
  return `echo '${JSON.stringify(full)}' >> ${transcript}`
}
const usage = {
  input_tokens: 10,
  cache_read_input_tokens: 15_000,
  cache_creation_input_tokens: 200,
  output_tokens: 30,
}
const answer = {
  id: 'msg_d1',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'I see two ways.' }],
  usage,
}

export const GROUPS: readonly Group[] = [
  {
    name: 'reading',
    isWriting: false,
    commands: [
      // The first command drains the outbox and absorbs the person's edit.
      line('view fix-auth'),
      line('view fix-auth --entries'),
      line('view sweep-metrics --activity'),
      line('view sweep-metrics --delivery'),
      ...withAndWithoutJson('view'),
      line('view --toon'),
      line('view fix-sweep-bug'),
      line('view fix-sweep-bug --entries'),
      line('view fix-sweep-bug --progress --decisions --discoveries --blockers --next'),
      line('view fix-sweep-bug --json'),
      line('view wf-001'),
      line('view list'),
      ...withAndWithoutJson('list'),
      line('list --status active,paused --sort name'),
      line('list --branch main --limit 2 --offset 1'),
      line('list --task fix-the-sweep-trigger'),
      ...withAndWithoutJson('search lock'),
      line('search mutex OR lock --kind decision'),
      line('search hello --in said'),
      line('history'),
      line('history --all'),
      line('history --all --json'),
      line('history aaaaaaaa'),
      line('history aaaaaaaa --full'),
      line('history aaaaaaaa --format json'),
      line('history aaaaaaaa --format anthropic'),
      line('history aaaaaaaa --format openai'),
      line('history 13628210'),
      line('history 01a1e20e --format openai'),
      ...withAndWithoutJson('budget sweep-metrics'),
      ...withAndWithoutJson('task list --all'),
      ...withAndWithoutJson('task tree --all'),
      ...withAndWithoutJson('task show design-the-api'),
      ...withAndWithoutJson('task next'),
      ...withAndWithoutJson('runs'),
      line('runs RUN'),
      line('runs RUN --json'),
      line('runs WIDE'),
      ...withAndWithoutJson('plan --harness rehearsal'),
      line('plan --harness rehearsal --parallel 2'),
      ...withAndWithoutJson('delegates --all'),
      ...withAndWithoutJson('delegate show label-each-sweep'),
      line('delegate show research'),
      line('merge --all --dry-run'),
      line('export fix-sweep-bug --format json'),
      line('export fix-sweep-bug --format toon'),
      line('export fix-sweep-bug --format markdown'),
      line('export sweep-metrics --format session-json'),
      line('export wf-001 --format workflow-log'),
      ...withAndWithoutJson('pack sweep-metrics'),
      line('pack fix-sweep-bug --budget 600 --explain'),
      ...withAndWithoutJson('handoff list fix-sweep-bug'),
      ...withAndWithoutJson('handoff show fix-sweep-bug/1'),
      line('handoff show wf-001 --check'),
      ...withAndWithoutJson('workflow status wf-001'),
      ...withAndWithoutJson('workflow list'),
      line('workflow template nine-phases'),
      line('workflow recover wf-001 --dry-run'),
      ...withAndWithoutJson('checkpoint list --session fix-sweep-bug'),
      line('checkpoint diff 1 --stat --session fix-sweep-bug'),
      line('ledger'),
      line('ledger --json', { volatile: [BYTES] }),
      line('ledger --by day'),
      line('ledger sweep-metrics'),
      line('ledger --maintenance'),
      line('doctor', { volatile: MACHINE }),
      line('doctor --json', { volatile: MACHINE }),
      ...withAndWithoutJson('project'),
      line('project --explain'),
      ...withAndWithoutJson('profiles'),
      line('profiles show auditor'),
      ...withAndWithoutJson('digest list'),
      line('digest show 857d6e72 --grep fired'),
      line('resume --list'),
      line('setup --check'),
      line('setup claude --dry-run'),
      line('setup codex --dry-run'),
      line('completion bash'),
      line('--help'),
      line('--version'),
      ...['log', 'view', 'run', 'delegate', 'merge', 'export', 'setup', 'purge'].map((name) =>
        line(`${name} --help`),
      ),
      line('rehearsal --check --script .sessions/rehearsal.yml'),
      line('statusline', {
        stdin: JSON.stringify({
          session_id: 'aaaaaaaa-0000-4000-8000-000000000001',
          cwd: '/tmp/stint-frozen/project',
          model: { display_name: 'Sonnet' },
          workspace: { current_dir: '/tmp/stint-frozen/project' },
        }),
      }),
      line('purge - --dry-run', { stdin: 'dashboards' }),
      line('history prune --dry-run --older-than 1d'),
      line('import --dry-run'),
    ],
  },
  {
    name: 'mistakes',
    isWriting: false,
    commands: [
      line('view no-such-session'),
      line('view no-such-session --json'),
      line('view 019c'),
      line('view --no-such-flag'),
      line('no-such-command'),
      line('log'),
      line('log --done "no such step"'),
      line('log --resolved'),
      line('task show no-such-task'),
      line('task add'),
      line('runs zzzzzz'),
      line('merge no-such-delegate'),
      line('history show zzzzzzzz'),
      line('export --format csv'),
      line('init --name sweep-metrics'),
      line('workflow phase wf-001 99'),
      line('checkpoint restore 99 --session fix-sweep-bug'),
      line('pack --budget 3'),
    ],
  },
  {
    name: 'hooks',
    isWriting: true,
    isUnstamped: true,
    commands: [
      event('SessionStart', { source: 'startup' }),
      event(
        'UserPromptSubmit',
        { prompt: 'Use seconds instead, and never touch src/watch.js' },
        transcriptLine('d-1', {
          type: 'user',
          message: { role: 'user', content: 'Use seconds instead' },
        }),
      ),
      event('PostToolUse', {
        tool_name: 'Edit',
        tool_input: {
          file_path: '/tmp/stint-frozen/project/src/time.js',
          old_string: 'a',
          new_string: 'b',
        },
        tool_response: {},
        tool_use_id: 'toolu_d1',
      }),
      event('PostToolUse', {
        tool_name: 'Bash',
        tool_input: { command: 'npm test' },
        tool_response: {
          stdout: '# tests 3\n# pass 3\n# fail 0\n',
          stderr: '',
          interrupted: false,
        },
        tool_use_id: 'toolu_d2',
      }),
      event('PostToolUse', {
        tool_name: 'TodoWrite',
        tool_input: {
          todos: [{ content: 'Time the sweeps', status: 'completed', activeForm: 'Timing' }],
        },
        tool_response: {},
        tool_use_id: 'toolu_d3',
      }),
      event('SubagentStop', { stop_hook_active: false }),
      event(
        'Stop',
        { stop_hook_active: false, last_assistant_message: 'I see two ways.' },
        transcriptLine('d-2', { type: 'assistant', message: answer }),
      ),
      event('PreCompact', { trigger: 'manual', custom_instructions: '' }),
      event(
        'SessionStart',
        { source: 'compact' },
        transcriptLine('d-3', {
          type: 'system',
          subtype: 'compact_boundary',
          compactMetadata: { trigger: 'manual', preTokens: 15_000 },
        }),
      ),
      event('Notification', { message: 'Claude is waiting for your input' }),
      event('SessionEnd', { reason: 'prompt_input_exit' }),
      line('view --activity'),
      line('history dddddddd'),
    ],
  },
  {
    name: 'writing',
    isWriting: true,
    commands: [
      line('resume'),
      line('resume --json'),
      line(
        'log --progress "Timed ten sweeps" --decision "Seconds" --rationale "Readable" --discovery "Midnight is slow" --blocker "No clock" --next "Ask Bob"',
      ),
      line('log --done 1 --step "Draw a chart" --json'),
      line('checkpoint --note "Before the chart"'),
      line('handoff create --reason "Enough for today"', { volatile: [SIZE] }),
      line('handoff accept'),
      line('task add "Draw the chart (depends: [write-the-guide]) P1 !S #web"'),
      line('task start design-the-api'),
      line('task check design-the-api 2'),
      line('task done design-the-api --summary "Agreed"'),
      line('workflow approve wf-001 --note "Green"'),
      line('workflow phase wf-001'),
      line('pause --note "Lunch" --switch-to fix-auth'),
      line('close --complete --session fix-auth'),
      line('reopen fix-sweep-bug'),
      line('close --abandon --reason "Only looked" --session fix-sweep-bug'),
      line('init --name next-thing --goal "What comes next"'),
      line('import'),
      line('export --format markdown --output next-thing.md'),
      line('setup claude'),
      line('setup claude --remove'),
      line('history prune --conversation 13628210'),
      line('purge -', { stdin: 'dashboards' }),
      line('doctor --repair', {
        volatile: MACHINE,
        before:
          'rm .sessions/index.db .sessions/journal/*/progress.md; printf \'\\n{"v":1,"id":"torn\' >> .sessions/backlog/log.jsonl',
      }),
      line('doctor', { volatile: MACHINE }),
    ],
  },
  {
    name: 'working',
    isWriting: true,
    commands: [
      line('merge label-each-sweep', { volatile: [DURATIONS] }),
      line('delegate discard break-each-sweep'),
      line('run --resume', { volatile: [DURATIONS, CLOCK] }),
      line('runs', { volatile: [DURATIONS] }),
      line('delegates --all'),
      line('task list --all'),
      line('doctor', { volatile: MACHINE }),
    ],
  },
  {
    name: 'serving',
    isWriting: false,
    commands: [
      // Stores pending conversations, so that the server does not do it meanwhile.
      line('history --all'),
      // Listed by the time stored, which is almost equal.
      line('history --all --json', {
        before:
          'cd .sessions/conversations; for c in a b c; do touch -d 2026-03-05T09:00:0$((0x$c % 10))Z $c$c$c$c$c$c$c$c-*; done',
      }),
      ...[
        'sessions',
        'sessions/SESSION',
        'sessions/SESSION/entries',
        'runs',
        'runs/RUN',
        'delegates',
        'delegates/DELEGATE',
        'conversations',
        'conversations/aaaaaaaa-0000-4000-8000-000000000001',
        'conversations/aaaaaaaa-0000-4000-8000-000000000001/curve',
        'tasks',
        'workflows',
        'handoffs',
        'usage',
        'ledger',
        // Messages are indexed while the server runs, which changes the ranking.
        'search?text=lock&limit=1',
        'overview',
        'no-such-thing',
      ].map((path) => ({
        name: `GET ${path}`,
        get: `/api/${path}`,
        volatile: path === 'ledger' ? [BYTES] : [],
      })),
    ],
  },
  {
    name: 'mcp',
    isWriting: true,
    commands: [
      {
        name: 'initialize',
        mcp: {
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 'frozen', version: '1' },
          },
        },
      },
      { name: 'tools list', mcp: { method: 'tools/list' } },
      { name: 'resources list', mcp: { method: 'resources/list' } },
      {
        name: 'resources read',
        mcp: { method: 'resources/read', params: { uri: 'stint://sessions' } },
      },
      { name: 'prompts list', mcp: { method: 'prompts/list' } },
      {
        name: 'journal',
        mcp: {
          method: 'tools/call',
          params: {
            name: 'journal',
            arguments: {
              entries: [
                { kind: 'progress', text: 'Timed by MCP' },
                { kind: 'decision', text: 'Seconds', rationale: 'Readable' },
              ],
            },
          },
        },
      },
      {
        name: 'unknown tool',
        mcp: { method: 'tools/call', params: { name: 'no-such-tool', arguments: {} } },
      },
    ],
  },
]
