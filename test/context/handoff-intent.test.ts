import { describe, expect, test } from 'vitest'
import { asksForHandoff } from '../../src/context/intent/handoff-intent.ts'

describe('asks for a handoff:', () => {
  test.each([
    'handoff',
    'Handoff.',
    'hand-off',
    '/handoff',
    'workflow:handoff',
    '/session-handoff',
    'hand off now',
    'hand off',
    'Please hand off now.',
    'create a handoff',
    'Create a handoff, please',
    'make a handoff document',
    'write the handoff for the next conversation',
    "ok, let's hand off",
    'can you hand this off to a new session?',
    'hand it over to the next agent',
    'That was enough. Create a handoff now.',
    'time to hand off',
    'prepare a final handoff',
  ])('%s', (prompt) => expect(asksForHandoff(prompt)).toBe(true))
})

describe('does not ask for a handoff:', () => {
  test.each([
    'the handoff module is broken',
    'handoff.ts',
    'open src/handoff.ts',
    'fix the handoff',
    'handoff tests fail',
    'create a handoff module',
    'create a handoff page in the docs',
    'write a test for the handoff',
    "don't hand off",
    'do not create a handoff',
    'what is a handoff?',
    'should we hand off now?',
    'how do I create a handoff?',
    'the agent should create a handoff when it is full',
    'hand off the parser to the lexer team in the diagram',
    'rename handoff to transfer',
    'show me the handoff',
    'handoff\nthe text of a log',
    '`handoff`',
    '<command>handoff</command>',
    'offhand, what do you think?',
    'yes',
    '',
    `handoff ${'x'.repeat(400)}`,
  ])('%s', (prompt) => expect(asksForHandoff(prompt)).toBe(false))
})
