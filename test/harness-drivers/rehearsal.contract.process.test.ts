import { testHarness } from '../contract/harness.ts'
import { rehearsalWorld } from './rehearsal-world.ts'

testHarness('the rehearsal agent', rehearsalWorld)
