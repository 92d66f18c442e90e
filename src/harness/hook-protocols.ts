// Apart from the registry, because a fast hook pays for everything it loads.
import { claudeProtocol } from './claude/hooks/protocol.ts'
import type { HookEvent, HookProtocol } from './contract/hooks.ts'

const PROTOCOLS: readonly HookProtocol[] = [claudeProtocol]

export function readFastEvent(
  json: string,
): { readonly event: HookEvent; readonly protocol: HookProtocol } | undefined {
  for (const protocol of PROTOCOLS) {
    const event = protocol.readEvent(json)
    if (event !== undefined) return { event, protocol }
  }
  return undefined
}
