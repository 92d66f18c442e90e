import type { DriveRequest, Harness } from '../harness/contract/drive.ts'
import { driveHarness, findHarness } from '../harness/registry.ts'
import { conversationStore } from '../history/store.ts'
import { redaction } from '../project/store/clean-draft.ts'
import type { Config } from '../project/config/config.ts'
import type { Workspace } from '../project/store/workspace.ts'

/** What the bare models of a project are known from, and where what they say is stored. */
export type HarnessPlace = Pick<Workspace, 'config' | 'place'>

/** The harness that a name means in a project. */
export function harnessNamed(
  name: string,
  { config, place }: HarnessPlace,
  options: Pick<DriveRequest, 'script' | 'state'> = {},
): Promise<Harness> {
  return driveHarness(name, {
    ...options,
    models: config.api,
    store: () => conversationStore(place.sessions, redaction(config)),
  })
}

/** Where a bare model has no room left for an answer, as far as that is known before it is asked; undefined for other harnesses. */
export function pointOfModel(
  name: string,
  model: string | undefined,
  { api }: Config,
): number | undefined {
  return findHarness(name)?.limits?.configuredPoint?.(name, model, api)
}
