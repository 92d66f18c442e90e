import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/text/tokens.ts'
import { latestWithin } from '../../src/mcp/tools/clip-output.ts'
import { checkArguments } from '../../src/mcp/tools/tool.ts'
import { SERVER_INSTRUCTIONS, MCP_TOOLS, listTools } from '../../src/mcp/tools.ts'
import { realTokens } from '../context/vocabularies.ts'

const MOST_TOKENS = 1500
const MOST_BY_VOCABULARIES = 800

test('the list of tools costs a model less than 1,500 tokens by every counting method', () => {
  const text = JSON.stringify({ tools: listTools() })
  expect(realTokens(text)).toBeLessThan(MOST_BY_VOCABULARIES)
  expect(estimateTokens(text)).toBeLessThan(MOST_TOKENS)
  expect(estimateTokens(SERVER_INSTRUCTIONS)).toBeLessThan(80)
})

describe('invalid arguments', () => {
  const refusal = (tool: string, args: unknown) => {
    try {
      return checkArguments(tool, MCP_TOOLS.find(({ name }) => name === tool)!.inputSchema, args)
    } catch (error) {
      const { code, message, hint } = error as { code: string; message: string; hint: string }
      return `${code}: ${message} (${hint})`
    }
  }

  test.each([
    ['search', {}, 'search needs query'],
    ['search', { query: 7 }, 'search.query is a number and has to be a text'],
    ['search', { query: 'x', limit: -1 }, 'search.limit is a number and has to be a whole number'],
    ['search', { query: 'x', limit: 1.5 }, 'search.limit is a number and has to be a whole number'],
    ['search', { query: 'x', qeury: 'y' }, 'search has no "qeury" (it takes query (needed), kind'],
    ['search', [], 'search is a list and has to be an object'],
    [
      'search',
      { query: 'x', all_projects: 'yes' },
      'search.all_projects is a text and has to be true or false',
    ],
    [
      'view',
      { part: 'everything' },
      'view.part cannot be "everything" (it is one of overview, progress',
    ],
    ['journal', { entries: 'progress' }, 'journal.entries is a text and has to be a list'],
    ['journal', { entries: [{ kind: 'progress' }] }, 'journal.entries[0] needs text'],
    [
      'journal',
      { entries: [{ kind: 'progress', text: 'x' }, null] },
      'journal.entries[1] is null and has to be an object',
    ],
    [
      'journal',
      { entries: [{ kind: 'toString', text: 'x' }] },
      'journal.entries[0].kind cannot be "toString"',
    ],
    ['view', { constructor: 'x' }, 'view has no "constructor"'],
  ])('of %s %j are refused with a hint', (tool, args, words) => {
    expect(refusal(tool, args)).toContain(`BAD_ARGUMENTS: ${words}`)
  })

  test('do not include missing ones where all are optional', () => {
    expect(refusal('view', undefined)).toEqual({})
  })
})

test('a list that is too long keeps the latest items and counts the others', () => {
  const items = Array.from({ length: 1000 }, (_, index) => ({ text: `item ${index}` }))
  const { latest, leftOut } = latestWithin(items, 500)
  expect(latest.at(-1)).toEqual({ text: 'item 999' })
  expect(latest.length + leftOut).toBe(1000)
  expect(estimateTokens(latest.map((item) => JSON.stringify(item)).join('\n'))).toBeLessThanOrEqual(
    500,
  )
})
