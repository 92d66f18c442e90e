import { StintError } from '../../../journal/errors.ts'
import { readOrUndefined } from '../../../journal/look.ts'
import { NO_SCRIPT, type Script, readScript } from './script.ts'

/** The script in a file; without a file, one that says nothing. */
export function loadScript(path: string | undefined): Script {
  if (path === undefined) return NO_SCRIPT
  const bytes = readOrUndefined(path)
  if (bytes === undefined)
    throw new StintError(
      'SCRIPT_INVALID',
      `there is no script ${path}`,
      'give the path of a YAML or JSON file',
    )
  return readScript(bytes.toString('utf8'), path)
}
