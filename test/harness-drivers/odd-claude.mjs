// A program that imitates Claude Code and misbehaves as its first line says. It echoes what it
// receives.
import { createInterface } from 'node:readline'

const how = process.env.ODD
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

if (process.argv.includes('--version')) {
  console.log(how === 'no version' ? 'hello' : '9.8.7 (Odd)')
  process.exit(how === 'fails' ? 3 : 0)
}
if (how === 'dies at once') {
  console.error('\u001B[31mno room\u001B[0m on this machine')
  process.exit(7)
}

const lines = createInterface({ input: process.stdin })
lines.on('close', () => how !== 'stays' && process.exit(0))
if (how === 'stays') setInterval(() => undefined, 1000)
lines.on('line', (line) => {
  const message = JSON.parse(line)
  const { request, request_id } = message
  if (request?.subtype === 'initialize') {
    const answer =
      how === 'takes no instructions'
        ? { subtype: 'error', error: 'what is that?' }
        : { subtype: 'success' }
    say({ type: 'control_response', response: { ...answer, request_id } })
  }
  if (message.type === 'user') hear(message.message.content, message.uuid)
  if (message.type === 'control_response') {
    say({
      type: 'assistant',
      message: { id: 'heard', content: [{ type: 'text', text: JSON.stringify(message.response) }] },
    })
    say({ type: 'result', subtype: 'success', is_error: false, result: 'answered' })
  }
})

function hear(text) {
  say({ type: 'system', subtype: 'init', session_id: 'odd-1' })
  if (how === 'does not stop') return
  if (how === 'talks nonsense') process.stdout.write('not json\n[1,2]\n"text"\n{"type":')
  if (how === 'talks nonsense') process.stdout.write('\n\n')
  if (how === 'asks')
    return say({ type: 'control_request', request_id: 'q', request: JSON.parse(text) })
  if (how === 'withdraws') {
    say({
      type: 'control_request',
      request_id: 'q',
      request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'x' } },
    })
    say({ type: 'control_cancel_request', request_id: 'q' })
    return setTimeout(
      () =>
        say({ type: 'result', subtype: 'success', is_error: false, result: 'without an answer' }),
      300,
    )
  }
  say({ type: 'result', subtype: 'success', is_error: false, result: text })
}
