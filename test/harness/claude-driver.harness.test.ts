import { testHarness } from '../contract/harness.ts'
import { drivenWorld } from './driven-world.ts'
import { CLAUDE_VERSIONS } from './install.ts'

for (const version of CLAUDE_VERSIONS)
  testHarness(`Claude Code ${version}`, () => drivenWorld(version))
