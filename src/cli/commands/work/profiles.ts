import { findProfile, findRepository, loadProfiles } from '../../../core.ts'
import type { Profile } from '../../../library.ts'
import { StintError } from '../../../public/projection.ts'
import { shorten } from '../../../text/clean.ts'
import { defineCommand, defineCommandGroup } from '../../context/command.ts'
import type { CliContext } from '../../context/context.ts'
import { argument } from '../../context/flags.ts'
import { plural } from '../../print/terminal/text.ts'

const ABOUT =
  'A profile says how a kind of work is to be done. Markdown files with name and description in their head, in .agents/ or\n.claude/agents/, and one for each specialist that comes with Stint. A run puts one line of each before its agent, and the rest of one\nonly when a task needs it.'

const list = defineCommand({
  brief: 'List the profiles that tasks may be done by',
  about: ABOUT,
  usage: [
    ['', 'name, what for, what it costs, where it is from'],
    ['--json', 'for programs'],
  ],
  run({ context, output, print }) {
    const { profiles, problems } = loadHere(context)
    for (const problem of problems) output.info(problem)
    const width = Math.max(...profiles.map(({ name }) => name.length))
    print({ profiles: profiles.map(profileJson), problems }, () =>
      profiles
        .map(
          (profile) =>
            `${profile.name.padEnd(width)}  ${shorten(profile.description, 70)}  (${originText(profile)})`,
        )
        .join('\n'),
    )
  },
})

const show = defineCommand({
  brief: 'Print a profile',
  usage: [['reviewer', 'what an agent that reviews is given']],
  args: [argument('The profile', 'NAME')],
  run({ context, output, print }, _flags, name) {
    const { profiles } = loadHere(context)
    const profile = findProfile(name, profiles)
    if (profile === undefined) {
      throw new StintError(
        'NO_PROFILE',
        `there is no profile ${JSON.stringify(name)}`,
        `there are ${profiles.map((each) => each.name).join(', ')}`,
      )
    }
    const { description, body } = profile
    print({ ...profileJson(profile), body }, () =>
      [
        output.bold(`${profile.name}: ${description}`),
        output.dim(originText(profile)),
        '',
        body,
      ].join('\n'),
    )
  },
})

export const profiles = defineCommandGroup({
  brief: 'The profiles that tasks may be done by',
  about: ABOUT,
  routes: { list, show },
  default: 'list',
})

/** From the current worktree: another branch may have other profiles. */
function loadHere({ cwd }: CliContext) {
  const repository = findRepository(cwd)
  return loadProfiles(repository?.worktree ?? cwd, repository?.mainRoot ?? cwd)
}

function profileJson({ body: _long, file, ...profile }: Profile) {
  return { ...profile, file: file ?? null }
}

function originText({ tokens, file, model }: Profile): string {
  return [
    plural(tokens, 'token'),
    ...(model === undefined ? [] : [model]),
    file ?? 'built in',
  ].join(', ')
}
