// Delegates as they are listed and named, from logs that no agent had to write.
import { describe, expect, test } from 'vitest'
import { delegatesOf } from '../../src/delegate/delegates-of-project.ts'
import { DelegateWorld } from './delegate-world.ts'

describe('a delegate that is discarded', () => {
  test('is named in full, whoever asks', async () => {
    const world = new DelegateWorld()
    const { id } = world.delegate('thing')
    const delegates = delegatesOf(world.workspace())
    await expect(delegates.discard(['thin'])).rejects.toMatchObject({ code: 'DELEGATE_INEXACT' })
    await expect(delegates.discard([id.slice(0, 10)])).rejects.toMatchObject({ code: 'DELEGATE_INEXACT' })
    expect(await delegates.list()).toMatchObject([{ status: 'ready' }])
    expect(await delegates.discard(['thing'])).toMatchObject([{ status: 'discarded' }])
  })
})
