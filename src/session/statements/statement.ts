export type StatementKind = 'rule' | 'decision' | 'fact' | 'finding' | 'next'

/** One sentence of a conversation that must survive the end of the context window. */
export interface Statement {
  readonly text: string
  readonly kind: StatementKind
  /** From 0 to 1: how much it is worth injecting when room is short. */
  readonly value: number
}

export type Speaker = 'user' | 'agent'

export interface SpokenStatement extends Statement {
  readonly speaker: Speaker
  /** Evidence other than the agent's own word supports it. */
  readonly isConfirmed?: boolean
}
