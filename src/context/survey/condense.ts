// Everything that was found, within a few hundred tokens: what is asked first by somebody who has just arrived comes
// first, and what does not fit is left out by the same rules as in the context of a session.
import { costOfAll } from '../cost.ts'
import { bullets, enumeration, paragraph } from '../lists.ts'
import type { Fitted, Section } from '../section.ts'
import { share } from '../share.ts'
import { MARGIN } from '../../text/tokens.ts'
import { type Finding, TOPICS, type Topic } from './finding.ts'

/** The most that the text may cost. */
export const PROJECT_TOKENS = 500

export interface CondensedTopic {
  readonly topic: Topic
  readonly tokens: number
  /** How many of the findings are told, and of how many. */
  readonly shown: number
  readonly count: number
  readonly isShortened: boolean
  /** Where they were found. */
  readonly from: readonly string[]
}

export interface Condensed {
  readonly text: string
  readonly topics: readonly CondensedTopic[]
}

export function condense(findings: readonly Finding[]): Condensed {
  const sections = TOPICS.map(
    (topic) =>
      [
        topic,
        sectionOf(
          topic,
          findings.filter((each) => each.topic === topic),
        ),
      ] as const,
  )
  const fitted = share(
    sections.map(([, section]) => section),
    PROJECT_TOKENS - MARGIN,
  )
  return {
    text: fitted.flatMap(({ lines }) => lines).join('\n'),
    topics: sections.map(([topic], index) => describe(topic, fitted[index]!, findings)),
  }
}

function describe(
  topic: Topic,
  { section, shown, cost, isShortened }: Fitted,
  findings: readonly Finding[],
): CondensedTopic {
  const from = findings.filter((each) => each.topic === topic).map((each) => each.from)
  return { topic, tokens: cost, shown, count: section.count, isShortened, from: [...new Set(from)] }
}

/** The shape of each topic, and its room: what it has in any case, and what it has before others have all they wish for. */
function sectionOf(topic: Topic, findings: readonly Finding[]): Section {
  const texts = [...new Set(findings.map(({ text }) => text))]
  const frame = {
    things: topic,
    command: 'stint project --json',
    keep: 'first' as const,
    ...FRAMES[topic],
  }
  if (topic === 'project') return paragraph(texts.join('; '), { ...frame, lengths: [60, 40, 24] })
  if (topic === 'commands') return bullets(texts, { ...frame, lengths: [45, 30, 20, 14] })
  if (topic === 'layout') return bullets(texts, { ...frame, lengths: [90, 45, 28, 18] })
  if (topic === 'commits' || topic === 'ci')
    return enumeration(texts, { ...frame, lengths: [70, 45, 28] })
  return enumeration(texts, { ...frame, lengths: [30, 20] })
}

const FRAMES: Readonly<
  Record<Topic, Pick<Section, 'rank' | 'reserve' | 'fair'> & { heading: string }>
> = {
  project: { rank: 0, reserve: 26, fair: 50, heading: 'Project:' },
  languages: { rank: 1, reserve: 14, fair: 26, heading: 'Languages:' },
  commands: { rank: 2, reserve: 80, fair: 140, heading: 'Commands:' },
  instructions: { rank: 3, reserve: 30, fair: 56, heading: 'Instructions, not copied here:' },
  layout: { rank: 4, reserve: 80, fair: 130, heading: 'Layout:' },
  tests: { rank: 5, reserve: 24, fair: 40, heading: 'Tests:' },
  conventions: { rank: 6, reserve: 24, fair: 50, heading: 'Conventions:' },
  commits: { rank: 7, reserve: 22, fair: 45, heading: 'Commits:' },
  ci: { rank: 8, reserve: 20, fair: 45, heading: 'CI:' },
  needs: { rank: 9, reserve: 12, fair: 20, heading: 'Needs:' },
  scripts: { rank: 10, reserve: 0, fair: 30, heading: 'More commands:' },
}

/** What a text of lines costs, by the measure it was made with. */
export function costOfText(text: string): number {
  return text === '' ? 0 : costOfAll(text.split('\n')) + MARGIN
}
