import { TOKEN_MARGIN } from '../../text/tokens.ts'
import { costOfAll } from '../text-size.ts'
import { bullets, enumeration, sectionFrame, paragraph, shareRoom } from '../section.ts'
import type { ProjectFact } from './folder-survey.ts'
import { type CondensedTopic, TOPICS, type Topic } from './cached-project-context.ts'

const PROJECT_TOKENS = 500

export function condenseFacts(facts: readonly ProjectFact[]): {
  readonly text: string
  readonly topics: readonly CondensedTopic[]
} {
  const factsOf = (topic: Topic) => facts.filter((each) => each.topic === topic)
  const sections = TOPICS.map((topic) =>
    sectionOf(topic, [...new Set(factsOf(topic).map(({ text }) => text))]),
  )
  const fitted = shareRoom(sections, PROJECT_TOKENS - TOKEN_MARGIN)
  const topics = fitted.map(({ section, cost, shown, isShortened }, index) => {
    const topic = TOPICS[index]!
    const from = [...new Set(factsOf(topic).map((each) => each.from))]
    return { topic, tokens: cost, shown, count: section.count, isShortened, from }
  })
  return { text: fitted.flatMap(({ lines }) => lines).join('\n'), topics }
}

/** Heading, rank, reserve, fair share. */
const FRAMES: Readonly<Record<Topic, readonly [string, number, number, number]>> = {
  project: ['Project:', 0, 26, 50],
  languages: ['Languages:', 1, 14, 26],
  commands: ['Commands:', 2, 80, 140],
  instructions: ['Instructions, not copied here:', 3, 30, 56],
  layout: ['Layout:', 4, 80, 130],
  tests: ['Tests:', 5, 24, 40],
  conventions: ['Conventions:', 6, 24, 50],
  commits: ['Commits:', 7, 22, 45],
  ci: ['CI:', 8, 20, 45],
  needs: ['Needs:', 9, 12, 20],
  scripts: ['More commands:', 10, 0, 30],
}

function sectionOf(topic: Topic, texts: readonly string[]) {
  const [heading, ...room] = FRAMES[topic]
  const framed = (...lengths: readonly number[]) =>
    sectionFrame(heading, topic, 'stint project --json', room, { keep: 'first', lengths })
  if (topic === 'project') return paragraph(texts.join('; '), framed(60, 40, 24))
  if (topic === 'commands') return bullets(texts, framed(45, 30, 20, 14))
  if (topic === 'layout') return bullets(texts, framed(90, 45, 28, 18))
  if (topic === 'commits' || topic === 'ci') return enumeration(texts, framed(70, 45, 28))
  return enumeration(texts, framed(30, 20))
}

export function costOfText(text: string): number {
  return text === '' ? 0 : costOfAll(text.split('\n')) + TOKEN_MARGIN
}
