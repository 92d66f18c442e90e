// A process that drives a bare model until it is killed.
import { apiHarness } from '../../src/harness/api/drive.ts'
import type { ApiSettings } from '../../src/harness/contract/drive.ts'
import type { ConversationOptions } from '../../src/harness/contract/drive.ts'
import { conversationStore } from '../../src/history/store.ts'

const [folder, settings, open] = process.argv
  .slice(2)
  .map((word) => (word.startsWith('{') ? (JSON.parse(word) as object) : word))
const store = conversationStore(folder as string, {})
const harness = apiHarness({ name: 'api', settings: settings as ApiSettings, store })
const conversation = await harness.open(open as ConversationOptions)
for await (const event of conversation.prompt('Go'))
  console.log(JSON.stringify({ ...event, mark: conversation.process.mark }))
