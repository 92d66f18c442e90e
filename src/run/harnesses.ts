import type { DriveRequest, Harness } from '../harness/contract/drive.ts'
import { driveHarness, findHarness } from '../harness/registry.ts'
import { conversationStore } from '../history/store.ts'
import { redaction } from '../project/store/clean-draft.ts'
import type { Config } from '../project/config/config.ts'
import type { Workspace } from '../project/store/workspace.ts'

export type HarnessPlace = Pick<Workspace, 'config' | 'place'>

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

/** The compaction point of a bare model, as far as it is configured; undefined for other harnesses. */
export function pointOfModel(
  name: string,
  model: string | undefined,
  { api }: Config,
): number | undefined {
  return findHarness(name)?.limits?.configuredPoint?.(name, model, api)
}
