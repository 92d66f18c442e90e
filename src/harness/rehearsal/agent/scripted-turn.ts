import { basename } from 'node:path'
import { oneLine, shorten, slug } from '../../../text/clean.ts'
import type { Script, ScriptedTurn } from './script.ts'

export interface PromptedTask {
  readonly name: string
  readonly title: string
}

/** The task that a prompt is about: its first line says so. */
export function taskIn(prompt: string): PromptedTask | undefined {
  const match = /^# Task (\S+?):(?=\s|$)[^\S\n]*([^\n]*)/.exec(prompt)
  return match === null ? undefined : { name: match[1]!, title: oneLine(match[2]!) }
}

/** What is done in the nth turn of a task, or of prompts about none. */
export function turnFor(
  script: Script,
  task: PromptedTask | undefined,
  turn: number,
): ScriptedTurn {
  const named =
    task === undefined
      ? undefined
      : Object.hasOwn(script.tasks, task.name)
        ? script.tasks[task.name]
        : undefined
  const turns = named ?? script.default
  if (turns !== undefined) return turns[Math.min(turn, turns.length) - 1] ?? []
  return task === undefined
    ? [{ do: 'say', text: 'There is no task in this prompt.' }]
    : rehearse(task, turn)
}

/** What is done where no script says otherwise: the task is worked, committed and reported. */
function rehearse({ name, title }: PromptedTask, turn: number): ScriptedTurn {
  const file = /^[\w-][\w.-]*$/.test(basename(name)) && basename(name) === name ? name : slug(name)
  return [
    { do: 'say', text: shorten(`I rehearse ${name}.`, 200) },
    {
      do: 'write',
      path: `rehearsal/${file}.md`,
      text: `# ${name}\n\n${title}\n\nRehearsed in turn ${turn}.\n`,
    },
    { do: 'commit', text: `rehearse ${name}` },
    { do: 'usage', amount: 8000 },
    { do: 'done', text: `Rehearsed ${name}.` },
  ]
}
