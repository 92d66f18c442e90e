import { findProfile, findRepository, loadProfiles } from '../../../core.ts'
import type { Profile } from '../../../library.ts'
import { StintError } from '../../../public.ts'
import { plural } from '../../print/terminal/text.ts'
import { buildCommand, buildRouteMap } from '@stricli/core'
import { shorten } from '../../../text/clean.ts'
import type { Context } from '../../context/context.ts'
import { json } from '../../context/flags.ts'
import { Output, withJsonErrors } from '../../context/output.ts'

const ABOUT =
  'A profile says how a kind of work is to be done. Markdown files with name and description in their head, in .agents/ or\n.claude/agents/, and one for each specialist that comes with Stint. A run puts one line of each before its agent, and the rest of one\nonly when a task needs it.'

const list = buildCommand<{ json?: boolean }, [], Context>({
  docs: {
    brief: 'List the profiles that tasks may be done by',
    fullDescription: ABOUT,
    customUsage: [
      { input: '', brief: 'name, what for, what it costs, where it is from' },
      { input: '--json', brief: 'for programs' },
    ],
  },
  parameters: { flags: { json } },
  async func(flags) {
    const output = new Output(this)
    await withJsonErrors(this, flags, output, async () => {
      const { profiles, problems } = load(this)
      for (const problem of problems) output.talk(problem)
      output.result(flags.json, { profiles: profiles.map(profileJson), problems }, () =>
        describeList(profiles),
      )
    })
  },
})

const show = buildCommand<{ json?: boolean }, [string], Context>({
  docs: {
    brief: 'Print a profile',
    customUsage: [{ input: 'reviewer', brief: 'what an agent that reviews is given' }],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [{ parse: String, brief: 'The profile', placeholder: 'NAME' }],
    },
    flags: { json },
  },
  async func(flags, name) {
    const output = new Output(this)
    await withJsonErrors(this, flags, output, async () => {
      const { profiles } = load(this)
      const profile = findProfile(name, profiles)
      if (profile === undefined) {
        const names = profiles.map((one) => one.name).join(', ')
        throw new StintError(
          'NO_PROFILE',
          `there is no profile ${JSON.stringify(name)}`,
          `there are ${names}`,
        )
      }
      output.result(flags.json, { ...profileJson(profile), body: profile.body }, () =>
        [
          output.bold(`${profile.name}: ${profile.description}`),
          output.dim(originOf(profile)),
          '',
          profile.body,
        ].join('\n'),
      )
    })
  },
})

export const profiles = buildRouteMap<'list' | 'show', Context>({
  routes: { list, show },
  defaultCommand: 'list',
  docs: { brief: 'The profiles that tasks may be done by', fullDescription: ABOUT },
})

/** Those of the worktree we are in: a branch may have others. */
function load({ cwd }: Context) {
  return loadProfiles(findRepository(cwd)?.worktree ?? cwd)
}

function profileJson({ body: _long, file, ...profile }: Profile) {
  return { ...profile, file: file ?? null }
}

function describeList(all: readonly Profile[]): string {
  const width = Math.max(...all.map(({ name }) => name.length))
  return all
    .map(
      (profile) =>
        `${profile.name.padEnd(width)}  ${shorten(profile.description, 70)}  (${originOf(profile)})`,
    )
    .join('\n')
}

function originOf({ tokens, file, model }: Profile): string {
  return [
    plural(tokens, 'token'),
    ...(model === undefined ? [] : [model]),
    file ?? 'built in',
  ].join(', ')
}
