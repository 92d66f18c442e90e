import type { StudyComplexity, MeasuredSessions, Rate } from '../../src/cli/study/parameters.ts'
import type { Lab } from './lab.ts'
import { LANES } from './trials.ts'
import { Project } from './project.ts'
import { type Fact, type Story, factsOf, storiesOf } from './story.ts'
import { Agent } from './agent.ts'

export interface SessionTrials {
  /** Sessions per complexity. */
  readonly each: number
  readonly seed: number
  readonly tried: () => void
}

export async function measureSessions(
  lab: Lab,
  { each, seed, tried }: SessionTrials,
): Promise<Readonly<Record<StudyComplexity, MeasuredSessions>>> {
  const found: Record<StudyComplexity, WorkedThrough[]> = { simple: [], medium: [], complex: [] }
  // Longest first, so that all lanes finish at about the same time.
  const left = (['complex', 'medium', 'simple'] as const).flatMap((complexity) =>
    storiesOf(complexity, each, seed).map((story) => ({
      complexity,
      story,
      project: new Project(lab),
    })),
  )
  // Sequential: setup refuses to run concurrently on one machine.
  await lab.atOnce(1, async () => {
    for (const { project } of left) await project.setUp()
  })
  await lab.atOnce(LANES, async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      found[next.complexity].push(await workThrough(next.project, next.story))
      tried()
    }
  })
  return {
    simple: meanOf(found.simple),
    medium: meanOf(found.medium),
    complex: meanOf(found.complex),
  }
}

function meanOf(sessions: readonly WorkedThrough[]): MeasuredSessions {
  const mean = (of: (session: WorkedThrough) => number) =>
    Math.round((10 * sessions.reduce((sum, session) => sum + of(session), 0)) / sessions.length) /
    10
  return {
    sessions: sessions.length,
    tasks: mean(({ tasks }) => tasks),
    writes: mean(({ writes }) => writes),
    bytes: Math.round(mean(({ bytes }) => bytes)),
    commands: mean(({ commands }) => commands),
    tokens: Math.round(mean(({ tokens }) => tokens)),
    givenBack: sumOf(sessions.map(({ givenBack }) => givenBack)),
    shownOnDemand: sumOf(sessions.map(({ shownOnDemand }) => shownOnDemand)),
  }
}

/** The result of one session. */
export interface WorkedThrough {
  readonly tasks: number
  readonly writes: number
  readonly bytes: number
  readonly commands: number
  readonly tokens: number
  readonly givenBack: Rate
  readonly shownOnDemand: Rate
}

/** Works through a session like an agent, and continues it in two fresh conversations. */
export async function workThrough(project: Project, story: Story): Promise<WorkedThrough> {
  const agents = [1, 2, 3].map((number) => new Agent(project, number))
  const [first, ...later] = agents
  await workOn(first!, project, story)
  const injected: string[] = []
  for (const agent of later) injected.push(await continueSession(agent))
  const { writes, bytes } = project
  const commands = agents.reduce((sum, agent) => sum + agent.commands, 0)
  const tokens = agents.reduce((sum, agent) => sum + agent.tokens, 0)
  const found = await Promise.all(injected.map((text) => findFacts(factsOf(story), text, project)))
  return {
    tasks: story.tasks.length,
    writes,
    bytes,
    commands,
    tokens,
    givenBack: sumOf(found.map(({ givenBack }) => givenBack)),
    shownOnDemand: sumOf(found.map(({ shownOnDemand }) => shownOnDemand)),
  }
}

async function workOn(agent: Agent, project: Project, story: Story): Promise<void> {
  // The user has written the tasks.
  await project.addTasks(story.tasks.map(({ title }) => title))
  await agent.starts()
  await agent.hears(`${story.goal}. The tasks are in the backlog.`)
  const linked = story.tasks.map(({ title }) => slugOf(title)).join(',')
  await agent.runs('init', '--name', 'invoices', '--goal', story.goal, '--tasks', linked)
  const steps = [...story.tasks.map(({ title }) => title), ...story.open]
  await agent.runs('log', ...steps.flatMap((step) => ['--step', step]), '--key', story.key)
  for (const [index, task] of story.tasks.entries()) {
    if (index > 0) await agent.hears(`Good. Now: ${task.title}`)
    await agent.edits(task.file, `// ${task.title}\n`)
    await agent.edits(task.file.replace(/\.(\w+)$/, '.test.$1'), `// Tests of: ${task.title}\n`)
    await agent.commits(task.title)
    const found = ['--discovery', task.discovery, '--gotcha', task.gotcha]
    const ahead = index === 0 ? ['--blocker', story.blocker, '--next', story.next] : []
    const decided = ['--decision', task.decision, '--rationale', task.rationale]
    await agent.runs('log', '--done', task.title, ...decided, ...found, ...ahead)
    await agent.runs('task', 'done', slugOf(task.title))
    await agent.stops(`${task.title}: done, and its tests pass.`)
  }
  await agent.ends()
}

/** Returns the context injected before the agent did anything. */
async function continueSession(agent: Agent): Promise<string> {
  await agent.starts()
  await agent.hears('Continue where we left off.')
  const injected = agent.injected.join('\n')
  await agent.edits('docs/refused-invoices.md', '# Refused invoices\n')
  await agent.stops('The page for support is begun.')
  await agent.ends()
  return injected
}

/** Which facts a text contains, and which others a command named in it shows. */
async function findFacts(
  facts: readonly Fact[],
  injected: string,
  project: Project,
): Promise<Pick<WorkedThrough, 'givenBack' | 'shownOnDemand'>> {
  const missing = facts.filter((fact) => !contains(fact, injected))
  const shown = (await Promise.all(commandsIn(injected).map((args) => project.stint(args)))).join(
    '\n',
  )
  return {
    givenBack: { happened: facts.length - missing.length, trials: facts.length },
    shownOnDemand: {
      happened: missing.filter((fact) => contains(fact, shown)).length,
      trials: missing.length,
    },
  }
}

/** Verbatim, ignoring line breaks. */
function contains({ words }: Fact, text: string): boolean {
  const plain = text.replaceAll(/\s+/g, ' ')
  return words.every((word) => plain.includes(word))
}

/** The commands that a text names for left-out items. */
function commandsIn(text: string): readonly (readonly string[])[] {
  const named = text
    .split('\n')
    .flatMap((line) =>
      line.startsWith('Left out here') ? (line.match(/stint view(?: --[a-z]+)?/g) ?? []) : [],
    )
  return [...new Set(named)].map((command) => command.split(' ').slice(1))
}

function slugOf(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}

export function sumOf(rates: readonly Rate[]): Rate {
  return {
    happened: rates.reduce((sum, { happened }) => sum + happened, 0),
    trials: rates.reduce((sum, { trials }) => sum + trials, 0),
  }
}
