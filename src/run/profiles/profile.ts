import { parseYaml, yamlMistake } from '../../text/parse-yaml.ts'
import { estimateTokens } from '../../text/tokens.ts'
import { type Task, cleanLine, isRecord, readList } from '../../backlog/task.ts'
import { cleanText, shorten, slug } from '../../text/clean.ts'
import {
  SPECIALISTS,
  type Specialist,
  proposeSpecialist,
  readSpecialist,
} from '../../backlog/specialist.ts'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'
import { defined } from '../../text/defined.ts'
import { redact } from '../../text/redact.ts'
import { isAgreedFile } from '../../project/trust/trust.ts'
import { readRepositoryFile } from '../../context/read-repository-file.ts'

/** Instructions for a kind of work: a one-line description, and a body that is injected when a task needs it. */
export interface Profile {
  readonly name: string
  readonly description: string
  readonly labels: readonly string[]
  readonly model?: string
  readonly body: string
  readonly tokens: number
  /** From the root of the repository; absent for a built-in one. */
  readonly file?: string
}

const HEAD = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/
const LONGEST_DESCRIPTION = 200

function parseProfile(file: string, text: string): { profile?: Profile; problem?: string } {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const head = HEAD.exec(plain)
  if (head === null)
    return { problem: 'has no head: begin it with ---, name: NAME, description: TEXT, ---' }
  const body = cleanText(plain.slice(head[0].length)).trim()
  if (body === '') return { problem: 'says nothing under its head' }
  const { values, problem } = valuesOf(head[1]!)
  const { labels } = values
  const description = cleanLine(values.description)
  const model = cleanLine(values.model)
  const profile: Profile = {
    name: nameFor(cleanLine(values.name), file),
    description: shorten(
      description || cleanLine(body.split('\n')[0]!.replace(/^#+\s*/, '')),
      LONGEST_DESCRIPTION,
    ),
    labels: readList(typeof labels === 'string' ? labels.split(',') : labels) ?? [],
    ...(model === '' || model === 'inherit' ? {} : { model }),
    body,
    tokens: estimateTokens(body),
    file,
  }
  const lacks =
    description === '' ? 'has no description: its first line stands in for it' : undefined
  return { profile, ...defined({ problem: problem ?? lacks }) }
}

function nameFor(name: string, file: string): string {
  const fileName = file.replace(/^.*\//, '').replace(/\.md$/i, '')
  const wanted = name === '' ? fileName : name
  // The name is typed in commands, so it must have Latin letters or digits.
  return /^[\w.-]{1,60}$/.test(wanted)
    ? wanted.toLowerCase()
    : slug(/[a-z0-9]/i.test(wanted) ? wanted : fileName)
}

/** Other programs accept heads that are not valid YAML, so those are read line by line. */
function valuesOf(source: string): {
  readonly values: Readonly<Record<string, unknown>>
  readonly problem?: string
} {
  // `failsafe` reads every value as text, so that a name like 0123 stays as written.
  const parsed = parseYaml(source, { schema: 'failsafe' })
  if (parsed.isValid)
    return isRecord(parsed.value)
      ? { values: parsed.value }
      : { values: {}, problem: 'has a head that is not a list of keys' }
  const lines = [...source.matchAll(/^(name|description|labels|model):[ \t]*(.*)$/gm)]
  const values = Object.fromEntries(
    lines.map(([, key, value]) => [key!, value!.replace(/^(["'])(.*)\1$/, '$2')]),
  )
  if (lines.length > 0 && !parsed.isBeyondLimits) return { values }
  const reason = cleanLine(yamlMistake(parsed))
  return { values, problem: `has a head that cannot be read: ${reason}` }
}

// Short, because a project that wants more writes its own.
const TEXTS: Readonly<Record<Specialist, readonly [description: string, body: string]>> = {
  architect: [
    'Decides how something is to be built, and writes the decision down',
    `Read the code that the design has to fit before you propose one. Name at least two ways, what each costs, and choose.
Prefer the smallest change of structure that serves. Record each decision with its reason: \`stint log --decision "…" --rationale "…"\`.
Write the design where this project keeps such documents. Change code only if the task asks for it.`,
  ],
  code: [
    'Builds or changes a feature, with its tests',
    `Find how this project does similar things, and do it the same way. Make the smallest change that is whole: behaviour, its test, its
documentation. Handle the bad input and the failure, too. No dead code, no options nobody asked for. Run the tests near your change often.`,
  ],
  debugger: [
    'Finds the cause of a fault and mends it there',
    `Reproduce the fault first, by a test that fails for the reason reported. Follow it to its cause with evidence, not guesses; say what you
ruled out. Mend the cause, not the symptom, and look for the same mistake elsewhere. The test must fail without your change and pass with it.`,
  ],
  reviewer: [
    'Looks at work with fresh eyes and says what is wrong',
    `Read the change and what it touches. Look for what is wrong before what is ugly: wrong results, lost data, races, missing checks, secrets,
tests that cannot fail. Try what you suspect instead of asserting it. Report findings by weight, each with file, line and a way to see it.
Change only what the task asks you to.`,
  ],
  documentation: [
    'Writes or mends what people read',
    `Write for somebody who has a task and little time: what it does, how to do it, an example that works. Run every command and example you
show. Take names and behaviour from the code, not from older pages. Use this project's words and tone, keep it short, and remove what is no longer true.`,
  ],
  research: [
    'Finds something out and reports it with its sources',
    `Write down the question first, and what would answer it. Prefer primary sources: the code, the specification, a small experiment. Keep what you
saw apart from what you conclude, and say how sure you are and what is still open. Leave the findings in a file of the repository, with sources.`,
  ],
  devops: [
    'Builds, releases, pipelines and machines',
    `Make every step repeatable and safe to run twice. Pin versions. Put no secret into files, logs or commands. Check a change where it cannot
hurt: a dry run, a linter, a local build. Say how it is undone. Never deploy, publish or delete anything unless the task says so in words.`,
  ],
  tests: [
    'Writes tests that can fail',
    `Test what the code promises, not how it does it; one promise a test, said in its title. Cover the edges: nothing, one, many, bad input,
failure in the middle. Use real parts where they are quick. See each test fail once, by breaking what it guards, then put that back.
No sleeping, no dependence on order or on the time of day.`,
  ],
}

export const BUILT_IN_PROFILES: readonly Profile[] = SPECIALISTS.map((name) => {
  const [description, text] = TEXTS[name]
  const body = text.replaceAll('\n', ' ')
  return { name, description, labels: [], body, tokens: estimateTokens(body) }
})

const PROFILE_FOLDERS = ['.agents', '.claude/agents'] as const

const MOST_FILES = 200

/** Those in the files of `tree`, as far as the user agreed to them for the project `root`: their text becomes instructions. */
export function loadProfiles(
  tree: string,
  root: string,
): {
  readonly profiles: readonly Profile[]
  readonly problems: readonly string[]
} {
  const problems: string[] = []
  const profiles = new Map<string, Profile>()
  const files = PROFILE_FOLDERS.flatMap((folder) => markdownIn(tree, folder))
  if (files.length > MOST_FILES)
    problems.push(`only the first ${MOST_FILES} of ${files.length} profiles are read`)
  for (const file of files.slice(0, MOST_FILES)) {
    const found = readRepositoryFile(tree, file)
    const parsed: ReturnType<typeof parseProfile> =
      typeof found === 'string'
        ? { problem: `is not read: ${found}` }
        : isAgreedFile(root, file, found.text)
          ? parseProfile(file, redact(found.text).text)
          : { problem: 'is not used until you agree to it: stint trust' }
    if (parsed.problem !== undefined) problems.push(`${file} ${parsed.problem}`)
    const { profile } = parsed
    if (profile === undefined) continue
    const first = profiles.get(profile.name)
    if (first === undefined) profiles.set(profile.name, profile)
    else problems.push(`${file} is left out: ${first.file} is called ${profile.name} already`)
  }
  return {
    profiles: [
      ...profiles.values(),
      ...BUILT_IN_PROFILES.filter(({ name }) => !profiles.has(name)),
    ],
    problems,
  }
}

function markdownIn(root: string, folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder))
      .filter((name) => /\.md$/i.test(name) && !/^readme\.md$/i.test(name))
      .toSorted()
      .map((name) => `${folder}/${name}`)
  } catch (error) {
    // The folder is missing or unreadable.
    if (errnoOf(error) === undefined) throw error
    return []
  }
}

export function findProfile(name: string, profiles: readonly Profile[]): Profile | undefined {
  const word = cleanLine(name)
    .toLowerCase()
    .replace(/[\s-]agent$/, '')
  const specialist = readSpecialist(word)
  return (
    profiles.find((profile) => profile.name === word) ??
    profiles.find((profile) => profile.name === specialist)
  )
}

export function profileFor(
  task: Pick<Task, 'title' | 'description' | 'labels' | 'assignee'>,
  profiles: readonly Profile[],
) {
  const assigned = findProfile(task.assignee ?? '', profiles)
  if (assigned !== undefined) return { profile: assigned, because: `assigned to ${task.assignee}` }
  for (const label of task.labels) {
    const asking =
      profiles.find(({ labels }) =>
        labels.some((one) => one.toLowerCase() === label.toLowerCase()),
      ) ?? findProfile(label, profiles)
    if (asking !== undefined) return { profile: asking, because: `label ${label}` }
  }
  // Only by its words: labels and assignee were checked above, and must not choose a profile that does not exist.
  const { title, description } = task
  const { specialist, because } = proposeSpecialist({ title, description, labels: [] })
  const proposed = findProfile(specialist, profiles)
  // An agent writes code anyway, so only the project's own code profile is worth the tokens.
  if (proposed === undefined || (specialist === 'code' && proposed.file === undefined))
    return undefined
  return { profile: proposed, because }
}

type ProfileExtra =
  | { readonly profile: { readonly name: string; readonly body: string } }
  | { readonly profileAgain: string }
  | Readonly<Record<string, never>>

export class LoadedProfiles {
  readonly #indexed: readonly Profile[]
  /** Still in the model's context. */
  #present = new Set<string>()
  /** Injected into this conversation at any time. */
  #loaded = new Set<string>()
  #notLoadedBefore = 0
  #conversations = 0

  constructor(indexed: readonly Profile[]) {
    this.#indexed = indexed
  }

  beginConversation(): void {
    this.#notLoadedBefore = this.notLoaded
    this.#conversations += 1
    this.#present = new Set()
    this.#loaded = new Set()
  }

  /** A compaction may have dropped any part of a body. */
  forgetBodies(): void {
    this.#present = new Set()
  }

  inject(profile: Profile | undefined): ProfileExtra {
    if (profile === undefined) return {}
    const { name, body } = profile
    if (this.#present.has(name)) return { profileAgain: name }
    this.#present.add(name)
    this.#loaded.add(name)
    return { profile: { name, body } }
  }

  get notLoaded(): number {
    if (this.#conversations === 0) return 0
    const spared = this.#indexed.filter(({ name }) => !this.#loaded.has(name))
    return this.#notLoadedBefore + spared.reduce((sum, { tokens }) => sum + tokens, 0)
  }
}
