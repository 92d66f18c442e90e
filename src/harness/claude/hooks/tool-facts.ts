// Apart from the protocol, because only the hook after a tool loads it.
import { isAbsolute, relative, resolve } from 'node:path'
import { programOf, unwrapCommands } from '../../../command/unwrap-command.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, asName, asObject, asText, messageText } from '../../../text/json-fields.ts'
import type { ToolFacts, ToolUsedEvent } from '../../contract/hooks.ts'
import { readTodos } from '../../contract/todo-list.ts'

const EDIT_TOOLS = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit'])
const MAX_COMMAND_LENGTH = 8000
const MAX_RESULT_LENGTH = 20_000

export function readToolFacts(event: ToolUsedEvent, root: string): ToolFacts {
  if (EDIT_TOOLS.has(event.tool))
    return { isEdit: true, committed: false, ...defined({ edited: editedPath(event, root) }) }
  if (event.tool === 'Bash') return { isEdit: false, ...commandFacts(event) }
  if (event.tool === 'Task' || event.tool === 'Agent')
    return { isEdit: false, committed: false, ...agentFacts(event) }
  if (event.tool === 'AskUserQuestion')
    return { isEdit: false, committed: false, answers: readAnswers(event) }
  // A sub-agent has a list of its own.
  const todos =
    event.agent === undefined ? readTodos(event.tool, event.input, event.response) : undefined
  return { isEdit: false, committed: false, ...defined({ todos }) }
}

const MAX_ANSWER_LENGTH = 2000

/** The answers by question; clients put them into the input or into the response. */
function readAnswers({ input, response }: ToolUsedEvent) {
  const answers = asObject(input.answers) ?? asObject(asObject(response)?.answers) ?? {}
  return Object.entries(answers).flatMap(([question, given]) => {
    const answer = Array.isArray(given) ? given.join(', ') : given
    return typeof answer === 'string' && answer.trim() !== ''
      ? [
          {
            question: question.slice(0, MAX_ANSWER_LENGTH),
            answer: answer.slice(0, MAX_ANSWER_LENGTH),
          },
        ]
      : []
  })
}

function editedPath({ input, response, cwd }: ToolUsedEvent, root: string) {
  const named = input.file_path ?? input.notebook_path ?? asObject(response)?.filePath
  const path = asName(named, 4096)
  if (path === undefined || path.includes('\0')) return undefined
  const absolute = resolve(cwd, path)
  const inProject = relative(root, absolute)
  if (inProject === '') return undefined
  const isOutside = inProject === '..' || /^\.\.[/\\]/.test(inProject) || isAbsolute(inProject)
  return isOutside ? absolute : inProject.replaceAll('\\', '/')
}

function commandFacts({ input, response }: ToolUsedEvent) {
  const command = asText(input.command)?.slice(0, MAX_COMMAND_LENGTH)
  if (command === undefined) return { committed: false }
  const started = /git|stint/.test(command) ? unwrapCommands(command).map(({ words }) => words) : []
  const stint = started.flatMap((words) => stintCommandFrom(words) ?? [])
  const stintCommand = BY_PRIORITY.find((name) => stint.includes(name)) ?? stint[0]
  const committed = started.some(movesHead)
  const isFinished = !isStillRunning(input, response)
  return {
    committed,
    ...defined({ stintCommand }),
    ...(isFinished ? { command, output: truncateMiddle(commandOutput(response)) } : {}),
  }
}

function isStillRunning(input: Json, response: unknown) {
  const fields = asObject(response)
  return (
    input.run_in_background === true ||
    asText(fields?.backgroundTaskId) !== undefined ||
    fields?.interrupted === true
  )
}

function commandOutput(response: unknown) {
  const fields = asObject(response)
  if (fields === undefined) return messageText(response)
  const streams = [fields.stdout, fields.stderr].filter(
    (text) => typeof text === 'string' && text !== '',
  )
  return streams.length > 0 ? streams.join('\n') : messageText(fields.content ?? fields.output)
}

// Commands that bind a conversation come first, then those that write to the journal.
const BY_PRIORITY = ['init', 'resume', 'log', 'checkpoint']

function stintCommandFrom(words: readonly string[]) {
  const rest = /^stint(?:\.[cm]?js)?$/.test(programOf(words))
    ? words.slice(1)
    : argumentsAfterInterpreter(words)
  const command = rest?.find((word) => !word.startsWith('-'))
  return command !== undefined && /^[a-z][a-z-]{1,20}$/.test(command) ? command : undefined
}

function argumentsAfterInterpreter(words: readonly string[]) {
  if (!/^(?:node|bun|deno)$/.test(programOf(words))) return undefined
  const at = words.findIndex((word) => /(?:^|[/\\])stint\.[cm]?js$/.test(word))
  return at === -1 ? undefined : words.slice(at + 1)
}

const HEAD_MOVING = new Set(['commit', 'merge', 'rebase', 'cherry-pick', 'revert', 'pull', 'am'])

function movesHead(words: readonly string[]) {
  if (programOf(words) !== 'git') return false
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at]!
    if (/^(?:-C|-c|--git-dir|--work-tree|--namespace)$/.test(word)) at += 1
    else if (!word.startsWith('-')) return HEAD_MOVING.has(word)
  }
  return false
}

function agentFacts({ input, response, toolUseId }: ToolUsedEvent) {
  const fields = asObject(response)
  const agent = asName(fields?.agentId) ?? asName(fields?.agent_id) ?? toolUseId
  const task = asName(input.description, 2000) ?? asName(fields?.description, 2000)
  if (agent === undefined) return {}
  const status = asName(fields?.status)
  if (fields?.isAsync === true || status === 'async_launched') {
    return {
      agentStarted: { agent, description: task ?? asName(input.subagent_type) ?? 'agent' },
    }
  }
  const result = asText(messageText(fields === undefined ? response : fields.content))?.slice(
    0,
    MAX_RESULT_LENGTH,
  )
  if (status !== 'completed' && result === undefined) return {}
  return {
    agentFinished: { agent, ...defined({ type: asName(input.subagent_type), task, result }) },
  }
}

const OUTPUT_START = 4000

const OUTPUT_END = 12_000

export function truncateMiddle(output: string): string {
  if (output.length <= OUTPUT_START + OUTPUT_END) return output
  return `${output.slice(0, OUTPUT_START)}\n…\n${output.slice(-OUTPUT_END)}`
}
