// Decisions of a delegate that do not go together with those of others who work for the same.
import { shortId } from '../../journal/ids.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Decision } from '../../session/state.ts'
import { shorten } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { safeLine } from '../../text/safe-text.ts'
import { type DelegateState, allDelegates } from '../delegate/delegates.ts'
import { withJournal } from '../delegate/parent-journal.ts'
import { contradicts } from './contradicts.ts'

/** More are not read. */
const MOST = 10

interface Made extends Decision {
  /** Who made it, as people call them. */
  readonly maker: string
  readonly session: string
}

/** Each in one line: what it is about, who chose what, and the commands that show both. */
export async function contradictionsOf(
  workspace: Workspace,
  state: DelegateState,
): Promise<readonly string[]> {
  const own = await madeBy(workspace, state)
  if (own.length === 0) return []
  const others: Made[] = [...(await madeByParent(workspace, state))]
  for (const other of allDelegates(workspace.place))
    if (isBeside(state, other)) others.push(...(await madeBy(workspace, other)))
  const found = own.flatMap((mine) =>
    others
      .filter((theirs) => contradicts(asked(mine), asked(theirs)))
      .map((theirs) => line(mine, theirs)),
  )
  const different = [...new Set(found)]
  return different.length <= MOST
    ? different
    : [
        ...different.slice(0, MOST),
        `and ${different.length - MOST} more decisions that do not go together`,
      ]
}

/** It works for the same, and what it decided is in the target or is about to be. */
function isBeside({ id, order }: DelegateState, other: DelegateState): boolean {
  if (other.id === id || !['merged', 'merging', 'ready'].includes(other.status)) return false
  const isOfSame = (one: string | undefined, two: string | undefined) =>
    one !== undefined && one === two
  return isOfSame(order.parent, other.order.parent) || isOfSame(order.run, other.order.run)
}

async function madeBy(
  workspace: Workspace,
  { order, run }: DelegateState,
): Promise<readonly Made[]> {
  const made: Made[] = []
  for (const { session } of run.sessions)
    made.push(...(await decisionsIn(workspace, session, order.name)))
  return made
}

/** Its own: what others brought it is looked at where they made it. */
async function madeByParent(
  workspace: Workspace,
  { order }: DelegateState,
): Promise<readonly Made[]> {
  return (await decisionsIn(workspace, order.parent, undefined)).filter(
    ({ whose }) => whose === undefined,
  )
}

async function decisionsIn(
  workspace: Workspace,
  session: string | undefined,
  maker: string | undefined,
): Promise<readonly Made[]> {
  const state = await withJournal(workspace, session, async (journal) => journal.read().state)
  if (state === undefined) return []
  return state.decisions.items.map((decision) => ({
    ...decision,
    maker: maker ?? state.name,
    session: state.id,
  }))
}

function asked({ text, context, options, choice }: Decision) {
  return {
    title: text,
    ...defined({ context, options, choice }),
  }
}

function line(mine: Made, theirs: Made): string {
  const show = [
    ...new Set([mine, theirs].map(({ session }) => `stint view ${shortId(session)} --decisions`)),
  ].join('; ')
  return `${chosen(mine)}, but ${chosen(theirs)} (${show})`
}

function chosen({ choice, maker, text }: Made): string {
  const title = short(text)
  return choice === undefined || choice === text
    ? `${maker} decided "${title}"`
    : `${maker} chose "${short(choice)}" for "${title}"`
}

function short(text: string): string {
  return shorten(safeLine(text), 80)
}
