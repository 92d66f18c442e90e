// What happens to a conversation after the work. Each event starts from a copy of the worked state
// and ends with one prompt, whose request is examined.
import { bash } from './scripted-model.mjs'

export const STATE_PROMPT = 'What is the state of this work?'
const CARRY_ON = 'Go on.'

/**
 * Each event resolves when the prompt was sent. `work.id` is the conversation of the work;
 * `ask(conversation)` sends the prompt and ends the conversation.
 */
export const EVENTS = {
  compaction: {
    title: 'compaction',
    async run({ world, work, ask }) {
      await ask(await resumed(world, work, { isFull: true }))
    },
    hasHappened: isCompacted,
  },
  compact: {
    title: '`/compact`',
    async run({ world, work, ask }) {
      const conversation = await resumed(world, work)
      await conversation.say('/compact')
      await ask(conversation)
    },
    hasHappened: isCompacted,
  },
  clear: {
    title: '`/clear`',
    async run({ world, work, ask }) {
      const conversation = await resumed(world, work)
      await conversation.say('/clear')
      await ask(conversation)
    },
    hasHappened: (text, { firstPrompt }) => !text.includes(firstPrompt),
  },
  fresh: {
    title: 'fresh conversation',
    async run({ world, ask }) {
      await ask(world.talk())
    },
  },
  kill: {
    title: '`kill -9`',
    async run({ world, work, ask }) {
      const conversation = world.talk({ resume: work.id })
      await conversation.sayUntilToolCall(CARRY_ON, [{ tools: [bash('sleep 60')] }])
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

/**
 * The conversation of the work, one turn on. Without that turn a compaction would keep what was
 * injected on resume, because it keeps what follows the last reply.
 */
async function resumed(world, work, { isFull = false } = {}) {
  const conversation = world.talk({ resume: work.id })
  await conversation.say(CARRY_ON, [{ text: 'Going on.', isFull }])
  return conversation
}

/** The request after a compaction begins with the agent's own summary. */
function isCompacted(text) {
  return text.includes('This session is being continued from')
}
