// The harnesses whose events may be answered without a handler. Apart from the registry, because such a hook pays for
// everything that it loads; the handler asks the registry.
import { claudeProtocol } from './claude/hooks/protocol.ts'
import type { HookEvent, HookProtocol } from './contract/hooks.ts'

const PROTOCOLS: readonly HookProtocol[] = [claudeProtocol]

/** An event of one of them, and how its harness speaks to its hooks. */
export function readFastEvent(
  json: string,
): { readonly event: HookEvent; readonly protocol: HookProtocol } | undefined {
  for (const protocol of PROTOCOLS) {
    const event = protocol.readEvent(json)
    if (event !== undefined) return { event, protocol }
  }
  return undefined
}
