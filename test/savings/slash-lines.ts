import { slashCommandFiles } from '../../src/harness/claude/setup/plugin.ts'

/** The slash commands as Claude Code tells every conversation of them. Tried with the real client. */
export function slashLines(): string {
  const lines = [...slashCommandFiles()].map(([file, text]) => {
    const description = JSON.parse(/^description: (.*)$/m.exec(text)![1]!) as string
    return `- ${file.replace('.md', '')}: ${description}`
  })
  return lines.toSorted().join('\n')
}
