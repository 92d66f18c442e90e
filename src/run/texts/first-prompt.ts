/**
 * The set-up and the first task in one text, for a harness that takes no standing instructions. It begins with the task's
 * first line as every other text about a task does, so that whoever reads along knows what it is about.
 */
export function firstPrompt(setup: string, text: string): string {
  const [head = ''] = text.split('\n', 1)
  return `${head}\n\nFirst, once for this conversation:\n\n${setup}\n\n${text}`
}
