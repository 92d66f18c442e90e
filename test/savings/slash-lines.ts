import { slashCommandFiles } from '../../src/harness/claude/setup/plugin.ts'

/** What Claude Code sends of the slash commands in every conversation. Checked with the real client. */
export function slashLines(): string {
  const lines = [...slashCommandFiles()].map(([file, text]) => {
    const description = JSON.parse(/^description: (.*)$/m.exec(text)![1]!) as string
    return `- ${file.replace('.md', '')}: ${description}`
  })
  return lines.toSorted().join('\n')
}
