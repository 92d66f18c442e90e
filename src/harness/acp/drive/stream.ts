import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { type Json, objectOf, parseJson } from '../../../text/json-fields.ts'
import type { GuardedProcess } from '../../process/spawn-guarded.ts'

interface Taps {
  readonly trace?: (direction: 'to' | 'from', line: string) => void
  /** Takes the updates, in the order in which they came and before any answer that came behind them. */
  readonly update: (params: Json) => void
}

/** The line to an agent. What is no message is passed over: some print to their standard output. */
export function streamTo(agent: GuardedProcess, { trace, update }: Taps): Stream {
  let isWanted = true
  const readable = new ReadableStream<AnyMessage>({
    async start(controller) {
      for await (const line of agent.lines) {
        if (!isWanted) return
        trace?.('from', line)
        const message = objectOf(parseJson(line))
        if (message?.['method'] === 'session/update') update(objectOf(message['params']) ?? {})
        else if (message?.['jsonrpc'] === '2.0') controller.enqueue(message as AnyMessage)
      }
      if (isWanted) controller.close()
    },
    cancel() {
      isWanted = false
    },
  })
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      const line = JSON.stringify(message)
      trace?.('to', line)
      agent.stdin.write(`${line}\n`)
    },
  })
  return { readable, writable }
}
