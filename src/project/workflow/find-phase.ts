import { StintError } from '../../journal/errors.ts'
import { type Workflow, type Place, placesOf } from '../../session/kinds/phases.ts'

/** The place that a person means: a phase or sub-phase by its id, its name, or a part of the name that only it has. */
export function findPhase(workflow: Pick<Workflow, 'id' | 'phases'>, wanted: string): Place {
  const text = wanted
    .trim()
    .toLowerCase()
    .replace(/^phase\s+/, '')
  const places = placesOf(workflow.phases)
  // A phase that has sub-phases is entered at its first.
  const named = places.flatMap((one) => [
    { one, names: [one.place.id, one.place.name] },
    ...(places.find(({ phase }) => phase.id === one.phase.id) === one
      ? [{ one, names: [one.phase.id, one.phase.name] }]
      : []),
  ])
  const exact = named.find(({ names }) => names.some((name) => name.toLowerCase() === text))
  if (exact !== undefined) return exact.one
  const alike = new Set(
    named
      .filter(({ names }) => text !== '' && names[1]!.toLowerCase().includes(text))
      .map(({ one }) => one),
  )
  const [first] = alike
  if (first !== undefined && alike.size === 1) return first
  const problem =
    alike.size > 1
      ? `"${wanted}" fits several phases of ${workflow.id}`
      : `${workflow.id} has no phase "${wanted}"`
  const all = workflow.phases.flatMap((phase) => [phase, ...phase.subPhases])
  throw new StintError('NO_PHASE', problem, `there are ${all.map(placeText).join(', ')}`)
}

/** `5b TDD GREEN` */
export function placeText({ id, name }: { readonly id: string; readonly name: string }): string {
  return `${id} ${name}`
}
