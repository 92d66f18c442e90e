// The model's part: scripted replies for the conversation under test, and a record of every request.

/** Past the compaction point of the agent's default window of a million tokens. */
const FULL = 970_000
const TOKEN_BYTES = 4

export class ScriptedModel {
  #stub
  #prompt = ''
  #replies = []
  #conversation

  constructor(stub) {
    this.#stub = stub
    stub.answerBy((seen) => this.#answer(seen))
  }

  get url() {
    return this.#stub.url
  }

  /** All requests so far, also those of programs that the tool under test started. */
  get calls() {
    return this.#stub.requests.length
  }

  forget() {
    this.#stub.forget()
  }

  follow(conversation) {
    this.#conversation = conversation
  }

  expect(prompt, replies) {
    this.#prompt = prompt
    this.#replies = [...replies]
  }

  /** The body of the last request of a turn that ends with this prompt. */
  requestFor(prompt) {
    const found = this.#stub.requests.findLast(
      ({ kind, body }) => kind === 'turn' && lastPrompt(body) === prompt,
    )
    if (found === undefined) throw new Error(`no request with the prompt "${prompt}"`)
    return found.body
  }

  stop() {
    return this.#stub.stop()
  }

  #answer({ body }) {
    const inputTokens = Math.round(JSON.stringify(body).length / TOKEN_BYTES)
    if (!this.#isOurs(body)) return { text: 'ok', inputTokens }
    const { isFull = false, ...reply } = this.#replies.shift() ?? { text: 'ok' }
    return { ...reply, inputTokens: isFull ? FULL : inputTokens }
  }

  /** Not a request of a program that the tool under test started. */
  #isOurs(body) {
    // `/clear` changes the id of the conversation.
    return sessionOf(body) === this.#conversation || lastPrompt(body) === this.#prompt
  }
}

function sessionOf({ metadata }) {
  try {
    return JSON.parse(metadata.user_id).session_id
  } catch {
    // Another program, which identifies itself differently.
    return undefined
  }
}

/** The text of the last user message that is not the harness's own. */
function lastPrompt({ messages }) {
  const texts = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) =>
      typeof content === 'string' ? [content] : content.map(({ text }) => text),
    )
  return texts.findLast((text) => text !== undefined && !text.startsWith('<system-reminder>'))
}

/** The replies of the model in one scripted turn, and the user's answers to its questions. */
export function repliesOf({ steps, reply }) {
  const replies = []
  const answers = {}
  let said = []
  for (const step of steps) {
    if (step.say !== undefined) {
      said.push(step.say)
      continue
    }
    const tool = step.run === undefined ? question(step.ask) : bash(step.run)
    if (step.ask !== undefined) answers[step.ask.question] = step.ask.answer
    const text = said.length === 0 ? {} : { text: said.join('\n\n') }
    replies.push({ ...text, tools: [tool] })
    said = []
  }
  // A message without a tool call ends the turn, so it is said with the reply.
  replies.push({ text: [...said, reply].join('\n\n') })
  return { replies, answers }
}

export function bash(command) {
  return { name: 'Bash', input: { command, description: 'Run a command' } }
}

function question({ question, header, options }) {
  const choices = options.map((label) => ({ label, description: label }))
  return {
    name: 'AskUserQuestion',
    input: { questions: [{ question, header, options: choices, multiSelect: false }] },
  }
}
