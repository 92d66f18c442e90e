import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PromptEvent } from '../../src/run/prompt/prompt-events.ts'
import type { LiveEvent, StartedPrompt } from '../../src/serve/contract.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { Served } from './served.ts'

let served: Served
beforeAll(async () => {
  served = await Served.start()
})
afterAll(() => served.end())

const script = (
  ...acts: readonly object[]
): { readonly harness: string; readonly script: string } => {
  served.world.write('.sessions/script.json', JSON.stringify({ default: [acts] }))
  return { harness: 'rehearsal', script: served.world.path('.sessions', 'script.json') }
}
const toldOf = (prompt: string, kind: PromptEvent['kind']) => (events: readonly LiveEvent[]) =>
  events.some(
    (event) => event.type === 'prompt' && event.prompt === prompt && event.event.kind === kind,
  )

describe('a prompt from the page', () => {
  test('streams its answer, asks for permission, and can be re-read from any event', async () => {
    const page = await (await served.subscribe()).connected()
    const acts = script({ say: 'May I?' }, { ask: 'echo yes > yes.txt' }, { say: 'Thanks.' })
    const { prompt, session } = (
      await served.post('/api/prompts', { text: 'Write yes', ...acts })
    ).json<StartedPrompt>()
    await page.until(toldOf(prompt, 'permission.asked'))
    const asked = (await served.get<PromptEvent[]>(`/api/prompts/${prompt}/events`)).find(
      ({ kind }) => kind === 'permission.asked',
    )
    const { request } = (asked as PromptEvent<'permission.asked'>).data
    expect(
      (
        await served.post(`/api/prompts/${prompt}/permission`, {
          request: 'other',
          isAllowed: true,
        })
      ).status,
    ).toBe(404)
    expect((await served.post(`/api/prompts/${prompt}/permission`, { request })).status).toBe(400)
    expect(
      (await served.post(`/api/prompts/${prompt}/permission`, { request, isAllowed: true })).status,
    ).toBe(200)
    await page.until(toldOf(prompt, 'prompt.ended'))
    expect(served.world.read('yes.txt')).toBe('yes\n')
    expect(served.world.sessionId()).toBe(session)

    const all = await served.get<PromptEvent[]>(`/api/prompts/${prompt}/events`)
    expect(all.map(({ number }) => number)).toEqual(all.map((_, index) => index + 1))
    const live = page.events.flatMap((event) => (event.type === 'prompt' ? [event.event] : []))
    expect(live).toEqual(all)
    expect(await served.get(`/api/prompts/${prompt}/events?after=${all.length - 1}`)).toEqual(
      all.slice(-1),
    )
    page.leave()
    await expectNoneLeft(`STINT_PROMPT=${prompt}`)
  })

  test('is interrupted', async () => {
    const page = await (await served.subscribe()).connected()
    const { prompt } = (
      await served.post('/api/prompts', {
        text: 'Wait',
        ...script({ say: 'Waiting.' }, { hang: true }),
      })
    ).json<StartedPrompt>()
    await page.until(toldOf(prompt, 'usage'))
    expect((await served.post(`/api/prompts/${prompt}/interrupt`)).status).toBe(200)
    await page.until(toldOf(prompt, 'prompt.ended'))
    page.leave()
    await expectNoneLeft(`STINT_PROMPT=${prompt}`)
  })

  test('is refused before anything starts when empty or invalid', async () => {
    for (const body of [
      {},
      { text: ' ' },
      { text: 7 },
      { text: 'x', permissions: 'root' },
      { text: 'x', isNew: 'yes' },
    ]) {
      expect((await served.post('/api/prompts', body)).status).toBe(400)
    }
    expect((await served.post('/api/prompts', { text: 'x', harness: 'nobody' })).status).toBe(404)
    for (const path of ['/api/prompts/none/interrupt', '/api/prompts/none/permission']) {
      expect((await served.post(path, { request: 'r', isAllowed: true })).status).toBe(404)
    }
    expect((await served.request('/api/prompts/none/events')).status).toBe(404)
  })
})
