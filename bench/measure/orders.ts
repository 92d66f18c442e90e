// Orders to the worker processes and their replies: one JSON object per line in both directions.

/** What is tested: Stint, or a session.json that is read, changed and rewritten in place. */
export type StoreName = 'stint' | 'session-json'

/** One acknowledged item of a session. */
export type Deed =
  | { readonly step: string; readonly is: 'working' | 'done' }
  | { readonly task: string; readonly is: 'working' | 'done' }
  /** An item of the shared checklist. */
  | { readonly ticked: string }
  | { readonly decision: string }
  | { readonly discovery: string }

export type Status = 'open' | 'working' | 'done'

/** The content of a session. */
export interface Standing {
  /** Keyed by `step NAME`, `task NAME`, `item NAME`. */
  readonly statuses: Readonly<Record<string, Status>>
  /** Counts of decisions and discoveries by text. */
  readonly counts: Readonly<Record<string, number>>
}

interface About {
  readonly store: StoreName
  readonly root: string
}

export type Order = About &
  (
    | { readonly do: 'make'; readonly tasks: readonly string[]; readonly items: readonly string[] }
    /** Records items until it is killed. */
    | { readonly do: 'work'; readonly tasks: readonly string[]; readonly name: string }
    /** Opens the session, to record the next order at once. */
    | { readonly do: 'open' }
    /** Records the items from the given time on. */
    | { readonly do: 'record'; readonly deeds: readonly Deed[]; readonly at: number }
    /** Records until a write fails, `room` bytes further on. */
    | {
        readonly do: 'fill'
        readonly room: number
        readonly limit: number
        readonly deeds: readonly Deed[]
      }
    /** Records one small item, then `bytes` in one write. */
    | { readonly do: 'pour'; readonly name: string; readonly bytes: number }
    | { readonly do: 'read' }
    /** Reads, records one more item, and reads again from scratch. */
    | { readonly do: 'go on'; readonly deed: Deed }
  )

/** Each order is answered by its acknowledged items and then by its end. */
export type Answer = { readonly did: Deed } | End

export interface End {
  readonly end: true
  /** Why it failed or stopped early. */
  readonly failed?: string
  readonly standings?: readonly Standing[]
}
