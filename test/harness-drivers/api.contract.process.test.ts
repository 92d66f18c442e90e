import { testHarness } from '../contract/harness.ts'
import { apiWorld } from './api-world.ts'

testHarness('a bare model of the Messages API', () => apiWorld('anthropic'))
testHarness('a bare model of a chat completions API', () => apiWorld('openai'))
