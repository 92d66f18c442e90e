import { testHarness } from '../contract/harness.ts'
import { acpWorld } from './acp-world.ts'

testHarness('claude-agent-acp', acpWorld)
