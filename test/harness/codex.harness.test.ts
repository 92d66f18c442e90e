import { testHarness } from '../contract/harness.ts'
import { CodexWorld } from './codex-world.ts'

testHarness('Codex', () => CodexWorld.create())
