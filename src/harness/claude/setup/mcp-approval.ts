// Claude Code asks a person once whether they want a server of `.mcp.json`, unless their settings say so. Whoever ran the setup has said so.
import { MCP_SERVER } from '../../setup/mcp-command.ts'
import type { JsonText } from './json-text.ts'
import type { Settings } from './settings.ts'

const ENABLED = 'enabledMcpjsonServers'
const DISABLED = 'disabledMcpjsonServers'
const ALL = 'enableAllProjectMcpServers'

/** How ours is called among what setup put into a settings file. */
export const APPROVAL = `${ENABLED}.${MCP_SERVER}`

/** What settings say of our server: a no holds before every yes. */
export function approvalIn(settings: Settings): 'approved' | 'refused' | undefined {
  if (isListed(settings[DISABLED])) return 'refused'
  return isListed(settings[ENABLED]) || settings[ALL] === true ? 'approved' : undefined
}

export function isApprovedByName(settings: Settings): boolean {
  return isListed(settings[ENABLED])
}

/** Whether a person has decided for themselves: about this server, or how they want to be asked about all of them. */
export function hasDecided(settings: Settings): boolean {
  const list = settings[ENABLED]
  const isOdd = list !== undefined && !Array.isArray(list)
  return isOdd || isListed(settings[DISABLED]) || settings[ALL] !== undefined
}

/** The text with the server approved; as it is where it is so already. */
export function addApproval(json: JsonText, text: string): string {
  const settings = JSON.parse(text) as Settings
  if (isApprovedByName(settings)) return text
  if (settings[ENABLED] === undefined) return json.addMember(text, [], ENABLED, [MCP_SERVER])
  return json.addItem(text, [ENABLED], MCP_SERVER)
}

/** What `addApproval` would put into a text, for whoever takes it out again. */
export function addedApproval(settings: Settings): readonly string[] {
  return isApprovedByName(settings) ? [] : [APPROVAL]
}

/** The text without the approval, if it is among what setup put there. The list goes with its last item, unless it stood there before. */
export function takeOutApproval(
  json: JsonText,
  text: string,
  added: readonly string[],
  kept: readonly string[],
): string {
  const list = (JSON.parse(text) as Settings)[ENABLED]
  const index = Array.isArray(list) ? list.indexOf(MCP_SERVER) : -1
  if (index === -1 || !added.includes(APPROVAL)) return text
  const isAlone = (list as readonly unknown[]).length === 1
  return json.remove(text, isAlone && !kept.includes(ENABLED) ? [ENABLED] : [ENABLED, index])
}

/** What of it stands in a settings file, for whoever takes ours out again. */
export function approvalContainers(settings: Settings): readonly string[] {
  return settings[ENABLED] === undefined ? [] : [ENABLED]
}

function isListed(list: unknown): boolean {
  return Array.isArray(list) && list.includes(MCP_SERVER)
}
