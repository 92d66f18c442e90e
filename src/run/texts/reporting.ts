/** The commands by which an agent reports on the task it calls so. */
export function doneCommand(name: string): string {
  return `\`stint task done ${name} --summary "what you did"\``
}

export function notDoneCommands(name: string): string {
  return `\`stint task blocked ${name} --summary "what is missing"\` or \`stint task failed ${name} --summary "why"\``
}
