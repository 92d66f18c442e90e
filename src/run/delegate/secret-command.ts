import { StintError } from '../../journal/errors.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import type { Workspace } from '../../project/store/workspace.ts'

/** A verify command goes through the log to those who are to run it, and a secret in it would not. */
export function refuseSecretCommand({ config }: Workspace, verify: string): void {
  if (withoutSecrets(verify, config) === verify) return
  throw new StintError(
    'VERIFY_REDACTED',
    'the verify command has a secret in it, which is not written down for those who are to run it',
    'put the command into a script, or the secret into the environment',
  )
}
