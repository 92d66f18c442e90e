import { join } from 'node:path'
import { DELIVERY_MARKER_PATTERN } from '../context/fence.ts'
import { readFileLines } from './conversation/read-file-lines.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import { type RawEntry, effectiveEntries } from '../session/effective-entries.ts'
import type { ProjectPaths } from './store/project-paths.ts'
import { defined } from '../text/defined.ts'

/** An injected text, and where the transcript shows it. */
export interface Delivery {
  readonly at: string
  readonly conversation: string
  readonly event: string
  readonly why: string
  readonly mark: string
  readonly chars: number
  readonly evidence?: { readonly file: string; readonly line: number; readonly at?: string }
  readonly without?:
    | 'not in the transcript'
    | 'the transcript is gone'
    | 'this client does not write down what hooks give'
}

export function findDeliveries(
  paths: ProjectPaths,
  entries: readonly RawEntry[],
): readonly Delivery[] {
  const effective = effectiveEntries(entries)
  const transcripts = new Map<string, string>()
  for (const { kind, data } of effective) {
    if (kind !== 'conversation.joined' || typeof data.transcript !== 'string') continue
    transcripts.set(String(data.conversation), data.transcript)
  }
  const sightings = new Map<string, Sightings>()
  const sightingsIn = (conversation: string) => {
    const known =
      sightings.get(conversation) ??
      readSightings(paths, conversation, transcripts.get(conversation))
    sightings.set(conversation, known)
    return known
  }
  return effective.flatMap(({ kind, at, data }): Delivery[] => {
    if (kind !== 'context.given') return []
    const conversation = String(data.conversation)
    const mark = String(data.mark)
    const injected = {
      at,
      conversation,
      mark,
      event: String(data.event),
      why: String(data.why ?? ''),
      chars: Number(data.chars),
    }
    const { file, marks, hasAttachments } = sightingsIn(conversation)
    if (file === undefined) return [{ ...injected, without: 'the transcript is gone' }]
    const evidence = marks.get(mark)
    if (evidence !== undefined) return [{ ...injected, evidence: { file, ...evidence } }]
    const without = hasAttachments
      ? 'not in the transcript'
      : 'this client does not write down what hooks give'
    return [{ ...injected, without }]
  })
}

interface Sightings {
  readonly file: string | undefined
  readonly marks: ReadonlyMap<string, { readonly line: number; readonly at?: string }>
  readonly hasAttachments: boolean
}

// The harness's file while it exists, then the copy.
function readSightings(
  paths: ProjectPaths,
  conversation: string,
  transcript: string | undefined,
): Sightings {
  const files = [transcript, join(paths.sessions, 'conversations', `${conversation}.jsonl`)]
  const file = files.find((path) => path !== undefined && statOrUndefined(path)?.isFile() === true)
  const marks = new Map<string, { line: number; at?: string }>()
  let hasAttachments = false
  let line = 0
  for (const text of file === undefined ? [] : readFileLines(file)) {
    line += 1
    if (!text.includes('"attachment"')) continue
    hasAttachments = true
    if (!text.includes('"hook_additional_context"')) continue
    const json = text.toString('utf8')
    const mark = DELIVERY_MARKER_PATTERN.exec(json)?.[1]
    const at = /"timestamp":"([^"]{10,40})"/.exec(json)?.[1]
    if (mark !== undefined) marks.set(mark, { line, ...defined({ at }) })
  }
  return { file, marks, hasAttachments }
}
