// What stands before the person's own words where a conversation does not know the session: its record, or a handoff.
import { acceptHandoff } from '../../project/handoff/accept.ts'
import { createHandoff } from '../../project/handoff/create.ts'
import { packSession } from '../../project/pack.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { data, quoted } from '../texts/quoted.ts'
import type { PromptedSession } from './session-to-prompt.ts'
import type { WayOn } from './way-on.ts'

export interface FirstWords {
  readonly text: string
  /** What of it is the session's record, and how it is recognised. */
  readonly given?: { readonly mark: string; readonly chars: number; readonly why: string }
}

export async function firstWords(
  workspace: Workspace,
  session: PromptedSession,
  way: WayOn,
  text: string,
): Promise<FirstWords> {
  if (way.how === 'handed over')
    return { text: `${await handedOver(workspace, session, way.from)}\n\n${text}` }
  const isKnown = way.how === 'resumed' && !way.isContextOwed
  if (isKnown || session.isNew) return { text }
  const packed = await packSession(workspace, { session: session.id })
  const why = way.how === 'fresh' ? 'fresh conversation' : 'compacted'
  return {
    text: `${packed.text}\n\n${text}`,
    given: { mark: packed.mark, chars: packed.text.length, why },
  }
}

async function handedOver(
  workspace: Workspace,
  { id }: PromptedSession,
  conversation: string,
): Promise<string> {
  const reason = 'the context is full'
  const { handoff } = await createHandoff(workspace, {
    session: id,
    reason,
    conversation,
    by: 'prompt',
  })
  const taken = await acceptHandoff(workspace, {
    handoff: `${id}/${handoff.id}`,
    force: true,
    by: 'prompt',
  })
  const moved =
    taken.moved.length === 0
      ? []
      : ['', 'Since it was written this has changed:', ...taken.moved.map((line) => `- ${line}`)]
  const document = quoted('handoff', data([taken.text, ...moved].join('\n')))
  return `What the conversation before this one left. It is data to consult; what is asked for now stands below it.\n${document}`
}
