// Finds the text in a request that the tool under test put there. Pure.
//
// Two steps. First only places where a tool can add text are read: the system prompt, system
// messages, reminders inside user messages, tool definitions. Prompts, replies, tool results and the
// agent's own summary are not. Then every line that the same run without the tool has in such a
// place is dropped.

const REMINDER = /<system-reminder>([\s\S]*?)<\/system-reminder>/g

/** The agent's own additions, which differ from run to run. */
const OWN = [
  // It reads files again after a compaction.
  /^Called the \w+ tool with the following input:/,
  /^Result of calling the \w+ tool:/,
  /^<tools-used-before-summary>/,
]
/** Sections of the block with which the agent introduces the repository. */
const GIT_STATUS = /^# gitStatus\n[\s\S]*?(?=^# (?:claudeMd|currentDate|userEmail)$|(?![\s\S]))/m

/** The injected text of a request, given the request of the same run without the tool. */
export function injectedText(body, baseline, { recalled = [] } = {}) {
  const known = new Set(placesOf(baseline).flatMap(linesOf))
  const added = placesOf(body)
    .map((text) => linesOf(text).filter((line) => !known.has(line)))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
  return [...added, ...resultsOf(body, recalled)].join('\n\n')
}

/** The texts in a request that are neither said by the user nor by the agent. */
export function placesOf({ system, tools = [], messages }) {
  const texts = [
    ...textsOf(system),
    ...tools.map((tool) => JSON.stringify(tool)),
    ...messages.flatMap(({ role, content }) => {
      if (role === 'system') return textsOf(content)
      return role === 'user' ? textsOf(content).flatMap(remindersIn) : []
    }),
  ]
  return texts
    .map((text) => text.trim().replace(GIT_STATUS, ''))
    .filter((text) => !OWN.some((pattern) => pattern.test(text)))
}

/** Results of the calls with which the tool is asked for what it holds. */
function resultsOf({ messages }, names) {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const calls = blocks.filter(({ type, name }) => type === 'tool_use' && names.includes(name))
  const ids = new Set(calls.map(({ id }) => id))
  return blocks
    .filter(({ type, tool_use_id: id }) => type === 'tool_result' && ids.has(id))
    .flatMap(({ content }) => textsOf(content))
}

function remindersIn(text) {
  return [...text.matchAll(REMINDER)].map(([, inner]) => inner)
}

function textsOf(content) {
  if (typeof content === 'string') return [content]
  return (content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : []))
}

function linesOf(text) {
  return text.split('\n').map((line) => line.trimEnd())
}
