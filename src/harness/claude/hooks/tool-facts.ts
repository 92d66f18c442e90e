import { isAbsolute, relative, resolve } from 'node:path'
import { programOf, startedCommands } from '../../../command/unwrap-command.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, nameOf, objectOf, saidIn, textOf } from '../../../text/json-fields.ts'
import type { ToolFacts, ToolUsedEvent } from '../../contract/hooks.ts'
import { todosOf } from '../../contract/plan-steps.ts'
import { bothEnds } from '../transcript/command-results.ts'

const EDITORS = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit'])
const LONGEST_COMMAND = 8000
const LONGEST_RESULT = 20_000

export function factsOf(event: ToolUsedEvent, root: string): ToolFacts {
  if (EDITORS.has(event.tool))
    return { isEdit: true, committed: false, ...defined({ edited: editedIn(event, root) }) }
  if (event.tool === 'Bash') return { isEdit: false, ...commandFacts(event) }
  if (event.tool === 'Task' || event.tool === 'Agent')
    return { isEdit: false, committed: false, ...agentFacts(event) }
  // A sub-agent has a list of its own.
  const todos =
    event.agent === undefined ? todosOf(event.tool, event.input, event.response) : undefined
  return { isEdit: false, committed: false, ...defined({ todos }) }
}

function editedIn({ input, response, cwd }: ToolUsedEvent, root: string) {
  const named = input.file_path ?? input.notebook_path ?? objectOf(response)?.filePath
  const path = nameOf(named, 4096)
  if (path === undefined || path.includes('\0')) return undefined
  const absolute = resolve(cwd, path)
  const inProject = relative(root, absolute)
  if (inProject === '') return undefined
  const isOutside = inProject === '..' || /^\.\.[/\\]/.test(inProject) || isAbsolute(inProject)
  return isOutside ? absolute : inProject.replaceAll('\\', '/')
}

function commandFacts({ input, response }: ToolUsedEvent) {
  const command = textOf(input.command)?.slice(0, LONGEST_COMMAND)
  if (command === undefined) return { committed: false }
  const started = /git|stint/.test(command)
    ? startedCommands(command).map(({ words }) => words)
    : []
  const stint = started.flatMap((words) => stintCommandIn(words) ?? [])
  const stintCommand = BY_MEANING.find((name) => stint.includes(name)) ?? stint[0]
  const committed = started.some(movesHead)
  const isOver = !isStillRunning(input, response)
  return {
    committed,
    ...defined({ stintCommand }),
    ...(isOver ? { command, output: bothEnds(outputOf(response)) } : {}),
  }
}

function isStillRunning(input: Json, response: unknown) {
  const fields = objectOf(response)
  return (
    input.run_in_background === true ||
    textOf(fields?.backgroundTaskId) !== undefined ||
    fields?.interrupted === true
  )
}

function outputOf(response: unknown) {
  const fields = objectOf(response)
  if (fields === undefined) return saidIn(response)
  const streams = [fields.stdout, fields.stderr].filter(
    (text) => typeof text === 'string' && text !== '',
  )
  return streams.length > 0 ? streams.join('\n') : saidIn(fields.content ?? fields.output)
}

// First those that bind a conversation, then those that write to the journal.
const BY_MEANING = ['init', 'resume', 'log', 'checkpoint']

function stintCommandIn(words: readonly string[]) {
  const rest = /^stint(?:\.[cm]?js)?$/.test(programOf(words))
    ? words.slice(1)
    : behindInterpreter(words)
  const command = rest?.find((word) => !word.startsWith('-'))
  return command !== undefined && /^[a-z][a-z-]{1,20}$/.test(command) ? command : undefined
}

function behindInterpreter(words: readonly string[]) {
  if (!/^(?:node|bun|deno)$/.test(programOf(words))) return undefined
  const at = words.findIndex((word) => /(?:^|[/\\])stint\.[cm]?js$/.test(word))
  return at === -1 ? undefined : words.slice(at + 1)
}

const MOVING = new Set(['commit', 'merge', 'rebase', 'cherry-pick', 'revert', 'pull', 'am'])

function movesHead(words: readonly string[]) {
  if (programOf(words) !== 'git') return false
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at]!
    if (/^(?:-C|-c|--git-dir|--work-tree|--namespace)$/.test(word)) at += 1
    else if (!word.startsWith('-')) return MOVING.has(word)
  }
  return false
}

function agentFacts({ input, response, toolUseId }: ToolUsedEvent) {
  const fields = objectOf(response)
  const agent = nameOf(fields?.agentId) ?? nameOf(fields?.agent_id) ?? toolUseId
  const task = nameOf(input.description, 2000) ?? nameOf(fields?.description, 2000)
  if (agent === undefined) return {}
  const status = nameOf(fields?.status)
  if (fields?.isAsync === true || status === 'async_launched') {
    return {
      agentStarted: { agent, description: task ?? nameOf(input.subagent_type) ?? 'agent' },
    }
  }
  const result = textOf(saidIn(fields === undefined ? response : fields.content))?.slice(
    0,
    LONGEST_RESULT,
  )
  if (status !== 'completed' && result === undefined) return {}
  return {
    agentFinished: { agent, ...defined({ type: nameOf(input.subagent_type), task, result }) },
  }
}
