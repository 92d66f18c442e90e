import { line } from '../../backlog/canonical.ts'
import { proposeSpecialist, readSpecialist } from '../../backlog/specialist.ts'
import type { Task } from '../../backlog/task.ts'
import type { Profile } from './profile.ts'

export interface ChosenProfile {
  readonly profile: Profile
  /** What in the task speaks for it. */
  readonly because: string
}

type Chooser = Pick<Task, 'title' | 'description' | 'labels' | 'assignee'>

/** The profile of a name, or of the specialist that the name means. */
export function findProfile(name: string, profiles: readonly Profile[]): Profile | undefined {
  const word = line(name)
    .toLowerCase()
    .replace(/[\s-]agent$/, '')
  const specialist = readSpecialist(word)
  return (
    profiles.find((profile) => profile.name === word) ??
    profiles.find((profile) => profile.name === specialist)
  )
}

/** The profile that a task names, else the one that its labels or its words ask for; undefined where nothing asks for one. */
export function profileFor(task: Chooser, profiles: readonly Profile[]): ChosenProfile | undefined {
  const assigned = findProfile(task.assignee ?? '', profiles)
  if (assigned !== undefined) return { profile: assigned, because: `assigned to ${task.assignee}` }
  for (const label of task.labels) {
    const asking =
      profiles.find(({ labels }) =>
        labels.some((one) => one.toLowerCase() === label.toLowerCase()),
      ) ?? findProfile(label, profiles)
    if (asking !== undefined) return { profile: asking, because: `label ${label}` }
  }
  // Labels and assignee have been looked at; those that mean a specialist whose profile is not here must not decide again.
  const { specialist, because } = proposeSpecialist({
    title: task.title,
    description: task.description,
    labels: [],
  })
  const proposed = findProfile(specialist, profiles)
  // Writing code is what an agent does unasked: only a project that has its own say on it is worth the tokens.
  if (proposed === undefined || (specialist === 'code' && proposed.file === undefined))
    return undefined
  return { profile: proposed, because }
}
