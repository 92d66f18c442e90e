// Apart from the registry, because a fast hook pays for everything it loads.
import { claudeProtocol } from './claude/hooks/protocol.ts'
import { readToolFacts } from './claude/hooks/tool-facts.ts'
import type {
  HookEvent,
  HookProtocol,
  ToolFacts,
  ToolFactsReader,
  ToolUsedEvent,
} from './contract/hooks.ts'

const PROTOCOLS: readonly HookProtocol[] = [claudeProtocol]
const TOOL_FACTS: Readonly<Record<string, ToolFactsReader>> = { claude: readToolFacts }

export function readFastEvent(
  json: string,
): { readonly event: HookEvent; readonly protocol: HookProtocol } | undefined {
  for (const protocol of PROTOCOLS) {
    const event = protocol.readEvent(json)
    if (event !== undefined) return { event, protocol }
  }
  return undefined
}

export function readFastToolFacts(event: ToolUsedEvent, root: string): ToolFacts | undefined {
  return TOOL_FACTS[event.harness]?.(event, root)
}
