import type { SizeClass } from './contract.ts'
import { DEFAULT_PLAN, type PlanSettings } from '../../project/config/plan-settings.ts'

/** What of a task tells how big it is. */
export interface SizedTask {
  /** Absent when nobody said it. */
  readonly size?: string
  readonly title: string
  readonly description: string
  readonly details?: string
  readonly checklist?: readonly unknown[]
  readonly children?: readonly unknown[]
}

const CLASSES: Readonly<Record<string, SizeClass>> = {
  XS: 'small',
  S: 'small',
  M: 'medium',
  L: 'large',
  XL: 'large',
}

/** An item of a checklist is work like a sentence or two, however short it is put. */
const ITEM = 150

/** How big a task is: as it says itself, else by how much there is to say about it. */
export function sizeClassOf(task: SizedTask, settings: PlanSettings = DEFAULT_PLAN): SizeClass {
  const said = (task.size ?? '').trim().toUpperCase()
  if (Object.hasOwn(CLASSES, said)) return CLASSES[said]!
  // Its parts are tasks of their own, whatever it says about them: what is left is to bring them together.
  if ((task.children ?? []).length > 0) return 'small'
  const length =
    task.title.length +
    task.description.length +
    (task.details ?? '').length +
    ITEM * (task.checklist ?? []).length
  if (length >= settings.length.largeFrom) return 'large'
  return length > settings.length.smallUpTo ? 'medium' : 'small'
}
