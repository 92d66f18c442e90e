// What the study assumes. Every session of every arm is drawn in this order:
//
//   1  complexity, by weights                    all arms
//   2  domain, by weights                        all arms; it changes nothing but what is drawn after it
//   3  tasks, evenly                             all arms
//   4  tokens, API calls, minutes, cognitive load, traceability, each evenly about its middle
//   5  success                                   arms without failures, and `stint`
//   6  stale, forgotten, unreadable              arms with assumed failures
//   7  whether it is delegated, and to how many agents
//   8  a conflict, for two agents or more        session.json in real time
//   9  success                                   arms with assumed failures
//
// Each arm begins with the same seed. The failures of `stint` are drawn from a second generator, so that its sessions are those of `none`, one by
// one, and what it does worse is no accident of drawing.
import type { ArmName, Complexity } from './contract.ts'

/** Tokens that Claude Code itself sends of Stint in every conversation: the lines of its slash commands, and its MCP server. A test counts them. */
export const SENT_ALWAYS = 292
/** The first conversation of a measured session, and the two that went on with it. */
export const CONVERSATIONS = 3

export type Each = Readonly<Record<Complexity, number>>

export const COMPLEXITIES = ['simple', 'medium', 'complex'] as const satisfies readonly Complexity[]

export function each(value: number): Each {
  return { simple: value, medium: value, complex: value }
}

/** What a session is before anything is kept of it. */
export const SESSION = {
  complexity: { simple: 0.35, medium: 0.45, complex: 0.2 },
  domain: { frontend: 0.24, backend: 0.1, fullstack: 0.4, devops: 0.1, debugging: 0.1, docs: 0.06 },
  tasks: { simple: [1, 2], medium: [3, 5], complex: [6, 10] },
  tokens: { simple: 3200 * 0.7, medium: 3200, complex: 3200 * 1.5 },
  apiCalls: { simple: 25.3 * 0.7, medium: 25.3, complex: 25.3 * 1.5 },
  minutes: { simple: 10, medium: 18, complex: 35 },
  cognitiveLoad: { simple: 0.3, medium: 0.45, complex: 0.65 },
  success: { simple: 0.95, medium: 0.88, complex: 0.75 },
  /** How far from the middle each is drawn: a share of it for the first three, a difference for the fourth. */
  spread: { tokens: 0.1, apiCalls: 0.15, minutes: 0.2, cognitiveLoad: 0.05 },
  /** What calling a tool takes, to read, to write or to run something. */
  msPerAccess: 200,
  leastCognitiveLoad: 0.1,
  leastSuccess: 0.3,
} as const satisfies Record<string, unknown>

/** How often something goes wrong in a session, and how much less likely it then succeeds. */
export interface FailureChances {
  readonly stale: number
  readonly forgotten: number
  readonly unreadable: number
  /** For each agent, of sessions with two or more. Without it nothing is drawn. */
  readonly conflictPerAgent?: number
  readonly penalties: {
    readonly stale: number
    readonly conflict: number
    readonly unreadable: number
    readonly forgotten: number
  }
  /** Drawn from a generator of their own, after a session that is otherwise as without them. */
  readonly areApart?: boolean
}

/** What a model has to do with its own hands to keep a state. */
export interface ByModel {
  readonly reads: number
  readonly writes: number
  readonly writesPerTask: number
  readonly tokensPerRead: number
  readonly tokensPerWrite: number
  /** Calling a tool, for each read and each write. */
  readonly tokensPerAccess: number
}

interface Delegation {
  readonly share: number
  readonly mostAgents: number
}

/** One way of keeping a session's state. */
export interface Keeping {
  readonly name: ArmName
  /** Written in each session, whatever the model does. */
  readonly writes: Each
  readonly byModel?: ByModel
  /** Run by the model, where they were counted: each a call, as long as any other. Their tokens are among those it takes besides. */
  readonly commands?: Each
  /** What it takes beside the session's own tokens: a share of them, and as many. */
  readonly tokens: { readonly share: number; readonly besides: Each }
  readonly cognitiveLoad: { readonly share: number; readonly besides: number }
  readonly traceability: { readonly middle: Each; readonly spread: number }
  readonly failures?: FailureChances
  readonly delegation: { readonly complex: Delegation; readonly medium?: Delegation }
  /** Added to the success of complex sessions that were delegated. */
  readonly successOfDelegated: number
}

export const NONE: Keeping = {
  name: 'none',
  writes: each(2),
  tokens: { share: 0, besides: each(0) },
  cognitiveLoad: { share: 0, besides: 0 },
  traceability: { middle: each(0.87), spread: 0.03 },
  delegation: { complex: { share: 0.7, mostAgents: 3 } },
  successOfDelegated: 0,
}

/** The file is written by the model at each change of each task's state: three a task. */
export const SESSION_JSON: Keeping & {
  readonly byModel: ByModel
  readonly failures: FailureChances
} = {
  ...NONE,
  name: 'session-json',
  byModel: {
    reads: 3,
    writes: 0,
    writesPerTask: 3,
    tokensPerRead: 200,
    tokensPerWrite: 250,
    tokensPerAccess: 50,
  },
  cognitiveLoad: { share: 0, besides: 0.07 },
  traceability: { middle: each(0.87 + 0.05), spread: 0.02 },
  failures: {
    stale: 0.08,
    forgotten: 0.12,
    unreadable: 0.02,
    conflictPerAgent: 0.03,
    penalties: { stale: 0.15, conflict: 0.2, unreadable: 0.25, forgotten: 0.05 },
  },
}

/** The column of the study's matrix: tasks in the workflow log, written once at the end. */
export const ENHANCED_LOG: Keeping = {
  ...NONE,
  name: 'enhanced-log',
  tokens: { share: 0.05, besides: each(0) },
  cognitiveLoad: { share: 0.02, besides: 0 },
  traceability: { middle: each(0.89), spread: 0.03 },
}

/** The file is written once, with the plan, and read twice. */
export const PLAN_ONCE: Keeping = {
  ...NONE,
  name: 'plan-once',
  byModel: {
    reads: 2,
    writes: 1,
    writesPerTask: 0,
    tokensPerRead: 200,
    tokensPerWrite: 350,
    tokensPerAccess: 50,
  },
  cognitiveLoad: { share: 0, besides: 0.03 },
  traceability: { middle: each(0.87 + 0.06), spread: 0.02 },
  failures: {
    stale: 0.008,
    forgotten: 0.05,
    unreadable: 0.002,
    penalties: { stale: 0.03, conflict: 0, unreadable: 0.05, forgotten: 0.02 },
  },
  delegation: { complex: { share: 0.75, mostAgents: 3 }, medium: { share: 0.3, mostAgents: 2 } },
  successOfDelegated: 0.03,
}
