import { StintError } from '../../journal/errors.ts'
import { NoSession, chooseSession } from '../store/choose.ts'
import type { ChosenSession } from '../store/choose.ts'
import type { Workspace } from '../store/workspace.ts'
import { conversationsOfSession } from './rows.ts'
import { storeOf } from './store.ts'

/** What a name means: a conversation, or a session with those it had. */
export type Meant =
  | { readonly conversation: string }
  | { readonly session: { readonly id: string; readonly name: string } }

/** Shorter beginnings of an id say nothing. */
const SHORTEST_BEGINNING = 4

/** The conversation of this id, or the only one whose id begins so; else the session of this name, or the one here without a name. */
export async function findMeant(workspace: Workspace, name?: string): Promise<Meant> {
  if (name !== undefined) {
    const conversation = findStored(workspace, name)
    if (conversation !== undefined) return { conversation }
  }
  const session = await sessionFor(workspace, name)
  return { session: { id: session.id, name: session.name } }
}

/** The same where one conversation is wanted: of a session, its latest that is stored. */
export async function findConversation(workspace: Workspace, name?: string): Promise<string> {
  const meant = await findMeant(workspace, name)
  if ('conversation' in meant) return meant.conversation
  const latest = conversationsOfSession(workspace, meant.session).findLast(
    ({ isStored }) => isStored,
  )
  if (latest !== undefined) return latest.id
  throw new StintError(
    'NO_CONVERSATION',
    `no conversation of ${meant.session.name} is stored here`,
    HOW_TO_STORE,
  )
}

const HOW_TO_STORE =
  'stint setup claude stores those to come; stint import brings in those that were'

function findStored(workspace: Workspace, name: string): string | undefined {
  const store = storeOf(workspace)
  if (store.has(name)) return name
  if (name.length < SHORTEST_BEGINNING) return undefined
  const found = store.list().flatMap(({ id }) => (id.startsWith(name) ? [id] : []))
  if (found.length < 2) return found[0]
  const shown = found.slice(0, 5).join(', ')
  throw new StintError(
    'CONVERSATION_AMBIGUOUS',
    `"${name}" fits several conversations: ${shown}`,
    'write more of the id',
  )
}

async function sessionFor(workspace: Workspace, name: string | undefined): Promise<ChosenSession> {
  try {
    return await chooseSession(workspace, name)
  } catch (error) {
    if (!(error instanceof NoSession) || name === undefined) throw error
    throw new StintError(
      'NO_CONVERSATION',
      `nothing stored here is called "${name}", neither a conversation nor a session`,
      'stint history --all lists the conversations, stint list the sessions',
    )
  }
}
