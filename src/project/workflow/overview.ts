import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionState } from '../../session/state.ts'
import {
  type Deliverable,
  type Workflow,
  conversationGroups,
  currentPlace,
  isSplit,
  nextPlace,
} from '../../session/kinds/phases.ts'
import { isInside } from '../../backlog/workflow/templates.ts'
import { chooseSession } from '../store/choose.ts'
import type { Workspace } from '../store/workspace.ts'
import { followsNone, placeText } from './phases.ts'
import { workingFolder } from '../store/place.ts'
import { defined } from '../../text/defined.ts'

export interface WorkflowOverview {
  readonly state: SessionState
  readonly workflow: Workflow
  readonly deliverables: readonly (Deliverable & { readonly exists: boolean })[]
  readonly conversation?: {
    readonly name: string
    readonly number: number
    readonly of: number
    readonly tokens?: readonly [number, number]
  }
  /** A fresh conversation should begin here. */
  readonly splitHere: boolean
  readonly next: NextAction
}

export interface NextAction {
  readonly text: string
  readonly command: string
  readonly who: 'person' | 'anybody'
}

export function overviewOf(workspace: Workspace, state: SessionState): WorkflowOverview {
  const { workflow } = state
  if (workflow === undefined) throw followsNone(state)
  const root = workingFolder(workspace.place)
  const conversation = conversationOf(workflow)
  return {
    state,
    workflow,
    // A journal may come from elsewhere: only paths inside the project are checked.
    deliverables: workflow.deliverables.map((one) => ({
      ...one,
      exists: isInside(one.path) && existsSync(join(root, one.path)),
    })),
    ...defined({ conversation }),
    splitHere: isSplit(state),
    next: nextAction(state, workflow),
  }
}

function conversationOf(workflow: Workflow) {
  const { phase } = currentPlace(workflow)
  const groups = conversationGroups(workflow)
  const index = groups.findIndex(({ name }) => name === phase.conversation)
  const group = groups[index]
  if (group === undefined) return undefined
  const { name, tokens } = group
  return { name, number: index + 1, of: groups.length, ...defined({ tokens }) }
}

function nextAction(state: SessionState, workflow: Workflow): NextAction {
  const { name } = state
  if (state.status === 'completed' || state.status === 'abandoned')
    return { text: `it is ${state.status}`, command: `stint reopen ${name}`, who: 'anybody' }
  const { phase, place, isLastOfPhase } = currentPlace(workflow)
  const next = nextPlace(workflow)
  if (phase.status === 'waiting for approval')
    return {
      text: `approve phase ${placeText(phase)}`,
      command: `stint workflow approve ${name} ${phase.id}`,
      who: 'person',
    }
  const command = `stint workflow phase ${name}`
  if (phase.status === 'done') {
    if (next === undefined)
      return {
        text: 'end the session',
        command: `stint close --complete --session ${name}`,
        who: 'anybody',
      }
    return { text: `enter phase ${placeText(next.place)}`, command, who: 'anybody' }
  }
  const then =
    isLastOfPhase && phase.gate === 'approval'
      ? 'have it approved'
      : next === undefined
        ? 'end it'
        : `enter ${placeText(next.place)}`
  return { text: `finish phase ${placeText(place)}, then ${then}`, command, who: 'anybody' }
}

export async function workflowStatus(
  workspace: Workspace,
  name?: string,
): Promise<WorkflowOverview> {
  const { id } = await chooseSession(workspace, name)
  return overviewOf(workspace, (await workspace.view(id)).state)
}

export async function listWorkflows(workspace: Workspace): Promise<readonly WorkflowOverview[]> {
  if (!workspace.hasSessions()) return []
  const rows = [...(await workspace.index()).sessions({ kind: 'workflow.begun' })]
  return rows.flatMap(({ id }) => {
    const state = workspace.stateOf(id)
    return state.workflow === undefined ? [] : [overviewOf(workspace, state)]
  })
}
