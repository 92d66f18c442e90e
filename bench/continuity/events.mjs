// What happens to a conversation after the work. Each event starts from a copy of the worked state
// and ends with one prompt, whose request is examined.
import { bash } from './scripted-model.mjs'

export const STATE_PROMPT = 'What is the state of this work?'

/**
 * Each event resolves when the prompt was sent. `resume()` opens the conversation of the work;
 * `ask(conversation)` sends the prompt and ends the conversation. `startsInConversation`: the last
 * turn of the work is played after the conversation was resumed. Otherwise a compaction would keep
 * what was injected on resume, because it keeps what follows the last reply.
 */
export const EVENTS = {
  compaction: {
    title: 'compaction',
    startsInConversation: true,
    async run({ resume, ask }) {
      await ask(await resume({ isFull: true }))
    },
    hasHappened: isCompacted,
  },
  compact: {
    title: '`/compact`',
    startsInConversation: true,
    async run({ resume, ask }) {
      const conversation = await resume()
      await conversation.say('/compact')
      await ask(conversation)
    },
    hasHappened: isCompacted,
  },
  clear: {
    title: '`/clear`',
    startsInConversation: true,
    async run({ resume, ask }) {
      const conversation = await resume()
      await conversation.say('/clear')
      await ask(conversation)
    },
    hasHappened: isCleared,
  },
  fresh: {
    title: 'fresh conversation',
    async run({ world, ask }) {
      await ask(world.talk())
    },
  },
  kill: {
    title: '`kill -9`',
    startsInConversation: true,
    async run({ world, resume, ask }) {
      const conversation = await resume()
      await conversation.sayUntilToolCall('Go on.', [{ tools: [bash('sleep 60')] }])
      await conversation.kill()
      await ask(world.talk())
    },
  },
  handoff: {
    title: 'handoff',
    async run({ world, adapter, ask }) {
      await adapter.handoff?.(world)
      await ask(world.talk())
    },
    isPossible: (adapter) => adapter.handoff !== undefined,
  },
  branch: {
    title: 'another branch and back',
    async run({ world, ask }) {
      const branch = world.run('git', 'branch', '--show-current').trim()
      world.run('git', 'switch', '-q', '-c', 'side-trip')
      const other = world.talk()
      await other.say('Is the spelling in the readme all right?', [{ text: 'I see no mistake.' }])
      await other.end()
      await world.settle()
      world.run('git', 'switch', '-q', branch)
      await ask(world.talk())
    },
  },
}

/** The request after a compaction begins with the agent's own summary. */
function isCompacted({ messages }) {
  return JSON.stringify(messages).includes('This session is being continued from')
}

/** Nothing was said before the prompt. */
function isCleared({ messages }) {
  const prompt = messages.findIndex(({ content }) => JSON.stringify(content).includes(STATE_PROMPT))
  return messages.slice(0, prompt).every(({ role }) => role !== 'assistant')
}
