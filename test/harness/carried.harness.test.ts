import { describe, expect, test } from 'vitest'
import { serverLines, serverTools } from '../savings/server-lines.ts'
import { slashLines } from '../savings/slash-lines.ts'
import { ClaudeWorld } from './claude-world.ts'
import { CLAUDE_VERSIONS } from './install.ts'
import { textOf } from './model-stub.ts'

// What the documentation on savings counts as carried by every conversation.
describe.each(CLAUDE_VERSIONS)('a conversation of Claude Code %s', (version) => {
  test('carries one line per slash command, its full text once typed, and the MCP server instructions', async () => {
    const world = await ClaudeWorld.create(version, { mcp: true })
    const talk = world.talk()
    await talk.say('hello')
    const carried = textOf(world.stub.turns.at(-1)!.body).split('\n')
    expect(carried).toEqual(expect.arrayContaining(slashLines().split('\n')))
    expect(carried.filter((line) => line.includes('session-view'))).toHaveLength(1)
    expect(carried.join('\n')).not.toContain('Show this to the user as it is.')
    await talk.say('/session-view list')
    const { text, body } = world.stub.turns.at(-1)!
    expect(text).toContain('Show this to the user as it is.')
    const tools = (body.tools ?? []).filter(({ name }) => name.startsWith('mcp__stint__'))
    // This version writes an ellipsis as three dots.
    if (version === '2.0.77')
      expect(tools).toEqual(JSON.parse(JSON.stringify(serverTools()).replaceAll('…', '...')))
    else expect(tools).toEqual([])
    const lines = serverLines()
      .split('\n')
      .filter((line) => version !== '2.0.77' || !/^(?:mcp__|.*Tool$)/.test(line))
    expect(text.split('\n')).toEqual(expect.arrayContaining(lines))
    await talk.end()
  })

  test('does not carry the line for the user', async () => {
    const world = await ClaudeWorld.create(version)
    world.stint('init', '--name', 'carried', '--goal', 'Be carried')
    const talk = world.talk()
    await talk.say('hello')
    const { text } = world.stub.turns.at(-1)!
    expect(text).toContain('Be carried')
    expect(text).not.toContain('/session-resume for all of it')
    await talk.end()
  })
})
