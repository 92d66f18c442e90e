// One process of the agent that reads prompts from standard input, one after the other.
import { createInterface } from 'node:readline'

const TURN_TIMEOUT_MS = 180_000
/** Hooks of one event start at once. */
const TOGETHER_MS = 15

export class Conversation {
  /** Every hook that ran: { event, subject, index, ms }; `index` counts the hooks that started together. */
  hooks = []
  #child
  #model
  #answers = new Map()
  #started = new Map()
  #latest = { name: '', at: 0, index: 0 }
  #seen = []
  #waiting
  #errors = ''

  constructor(child, model) {
    this.#child = child
    this.#model = model
    this.closed = new Promise((resolve) => child.once('close', resolve))
    this.closed.then(() =>
      this.#waiting?.reject(new Error(`the agent ended early\n${this.#errors}`)),
    )
    child.stderr.on('data', (chunk) => (this.#errors += chunk))
    // A killed agent closes its end while a prompt is on its way.
    child.stdin.on('error', (error) => (this.#errors += error.message))
    createInterface({ input: child.stdout }).on('line', (line) => this.#read(JSON.parse(line)))
  }

  get pid() {
    return this.#child.pid
  }

  /** Sends a prompt and resolves when the turn has ended. The model gives `replies`, one each. */
  async say(prompt, replies = [], answers = {}) {
    this.#answers = new Map(Object.entries(answers))
    this.#model.expect(prompt, replies)
    const ended = new Promise((resolve, reject) => (this.#waiting = { resolve, reject }))
    const late = setTimeout(
      () =>
        this.#waiting?.reject(
          new Error(`no end of the turn "${prompt.slice(0, 60)}"\n${this.#errors}`),
        ),
      TURN_TIMEOUT_MS,
    )
    this.#write({ type: 'user', message: { role: 'user', content: prompt } })
    try {
      return await ended
    } finally {
      clearTimeout(late)
    }
  }

  /** Sends a prompt whose turn never ends, and resolves when its tool call has begun. */
  async sayUntilToolCall(prompt, replies) {
    const before = this.#seen.length
    // The turn ends with the process.
    this.say(prompt, replies).catch(() => undefined)
    while (!this.#seen.slice(before).includes('tool_use')) await pause(20)
    await pause(300)
  }

  async end() {
    this.#child.stdin.end()
    await this.closed
  }

  /** `kill -9`: the agent only, not what it started. */
  async kill() {
    this.#child.kill('SIGKILL')
    await this.closed
  }

  #read(message) {
    const { type, subtype } = message
    if (type === 'assistant')
      for (const block of message.message.content) this.#seen.push(block.type)
    if (type === 'control_request') this.#allow(message)
    if (type === 'system' && subtype === 'hook_started') this.#hookStarted(message)
    if (type === 'system' && subtype === 'hook_response') this.#hookEnded(message)
    if (type === 'result') this.#waiting?.resolve(message)
  }

  #hookStarted({ hook_id: id, hook_name: name }) {
    const at = performance.now()
    const { name: previous, at: before, index } = this.#latest
    const isTogether = name === previous && at - before < TOGETHER_MS
    this.#latest = { name, at, index: isTogether ? index + 1 : 0 }
    this.#started.set(id, this.#latest)
  }

  #hookEnded({ hook_id: id, hook_event: event }) {
    const started = this.#started.get(id)
    // PreCompact hooks are not announced.
    if (started === undefined) return
    const { name, at, index } = started
    // `PostToolUse:Bash`
    const subject = name.slice(event.length + 1)
    this.hooks.push({ event, subject, index, ms: performance.now() - at })
  }

  /** The agent asks its user: a question gets the scripted answer, anything else is allowed. */
  #allow({ request_id: id, request }) {
    if (request.subtype !== 'can_use_tool') return
    const { input } = request
    const answers = Object.fromEntries(
      (input.questions ?? []).map(({ question }) => [question, this.#answers.get(question) ?? '']),
    )
    const updatedInput = input.questions === undefined ? input : { ...input, answers }
    const response = { behavior: 'allow', updatedInput }
    this.#write({
      type: 'control_response',
      response: { subtype: 'success', request_id: id, response },
    })
  }

  #write(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
  }
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
