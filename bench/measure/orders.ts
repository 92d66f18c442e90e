// What the processes of the trials are asked to do, and what they answer: one JSON object a line, both ways.

/** What is under trial: Stint, or a session.json that is read, changed and written back in place. */
export type StoreName = 'stint' | 'session-json'

/** One thing that is recorded in a session, and acknowledged. */
export type Deed =
  | { readonly step: string; readonly is: 'working' | 'done' }
  | { readonly task: string; readonly is: 'working' | 'done' }
  /** An item of the checklist that all share. */
  | { readonly ticked: string }
  | { readonly decision: string }
  | { readonly discovery: string }

export type Status = 'open' | 'working' | 'done'

/** What a session says when it is read. */
export interface Standing {
  /** By `step NAME`, `task NAME`, `item NAME`. */
  readonly statuses: Readonly<Record<string, Status>>
  /** How often each decision and discovery is there, by its text. */
  readonly counts: Readonly<Record<string, number>>
}

interface About {
  readonly store: StoreName
  readonly root: string
}

export type Order = About &
  (
    | { readonly do: 'make'; readonly tasks: readonly string[]; readonly items: readonly string[] }
    /** Records one thing after the other until it is killed. */
    | { readonly do: 'work'; readonly tasks: readonly string[]; readonly name: string }
    /** Makes itself ready to record at once what is asked for next. */
    | { readonly do: 'open' }
    /** Records what is asked for, from an instant on. */
    | { readonly do: 'record'; readonly deeds: readonly Deed[]; readonly at: number }
    /** Records until a write is refused, which is to happen `room` bytes further on. */
    | {
        readonly do: 'fill'
        readonly room: number
        readonly limit: number
        readonly deeds: readonly Deed[]
      }
    /** Records one small thing, and then `bytes` in one write. */
    | { readonly do: 'pour'; readonly name: string; readonly bytes: number }
    | { readonly do: 'read' }
    /** Reads, records one thing more, and reads again from the start. */
    | { readonly do: 'go on'; readonly deed: Deed }
  )

/** Each order is answered by what was done of it, one by one, and then by its end. */
export type Answer = { readonly did: Deed } | End

export interface End {
  readonly end: true
  /** Why it was not done, or not all of it. */
  readonly failed?: string
  readonly standings?: readonly Standing[]
}
