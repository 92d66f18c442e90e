// A folder for the repositories that tests copy, shared by all workers of a suite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const TEMPLATES = 'TEST_TEMPLATES'

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-templates-'))
  process.env[TEMPLATES] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
