import type { Statement } from './statement.ts'
import { splitSentences } from './split-sentences.ts'

/** The sentences of a prompt that are worth keeping. */
export function statementsFromUser(prompt: string): readonly Statement[] {
  return splitSentences(prompt)
    .filter((text) => text.length > 20 && !text.endsWith('?'))
    .map((text) => ({ text, kind: 'fact', value: 0.5 }))
}

/** The sentences of an agent's message that are worth keeping. */
export function statementsFromAgent(message: string): readonly Statement[] {
  return splitSentences(message)
    .filter((text) => text.length > 20 && !text.endsWith('?') && /\d|`/.test(text))
    .map((text) => ({ text, kind: 'finding', value: 0.5 }))
}

/** A multiple-choice question and the chosen answer as one statement. */
export function answerStatement(question: string, answer: string): Statement {
  return { text: `${question.trim()} → ${answer.trim()}`, kind: 'decision', value: 0.8 }
}
