import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { PromptEvent } from '../../src/run/prompt/prompt-events.ts'
import type { LiveEvent, ServerOverview, StartedPrompt } from '../../src/serve/contract.ts'
import { program } from '../support/cli.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { temporaryFolder } from '../support/scratch.ts'
import { Served, type ServedResponse } from './served.ts'

let served: Served
let folder: string
beforeAll(async () => {
  folder = temporaryFolder()
  served = await Served.start({
    env: { ...process.env, STINT_REHEARSAL_SCRIPT: join(folder, 'script.json') },
  })
})
afterAll(async () => {
  await served.end()
  rmSync(folder, { recursive: true, force: true })
})

/** What the scripted agent does next. */
const scripted = (...acts: readonly object[]) => {
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ default: [acts] }))
  return { harness: 'rehearsal' }
}
const codeOf = ({ status, json }: ServedResponse) => [status, json<{ code: string }>().code]
const toldOf = (prompt: string, kind: PromptEvent['kind']) => (events: readonly LiveEvent[]) =>
  events.some(
    (event) => event.type === 'prompt' && event.prompt === prompt && event.event.kind === kind,
  )

describe('a prompt from the page', () => {
  test('streams its answer, asks for permission, and can be re-read from any event', async () => {
    const page = await (await served.subscribe()).connected()
    const acts = scripted({ say: 'May I?' }, { ask: 'echo yes > yes.txt' }, { say: 'Thanks.' })
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
        ...scripted({ say: 'Waiting.' }, { hang: true }),
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
    for (const path of ['/api/prompts/none/interrupt', '/api/prompts/none/permission']) {
      expect((await served.post(path, { request: 'r', isAllowed: true })).status).toBe(404)
    }
    expect((await served.request('/api/prompts/none/events')).status).toBe(404)
  })

  test('chooses a harness by its name, and gets no command and no script of its choice run', async () => {
    const touch = served.world.path('touched')
    for (const harness of ['nobody', `acp:touch ${touch}`, 'acp', 'api:none', 'rehearsal:x', '']) {
      const refused = await served.post('/api/prompts', { text: 'x', harness })
      expect(codeOf(refused), harness).toEqual([400, 'HARNESS_NOT_OFFERED'])
      expect(refused.text).toContain('claude, codex, api, rehearsal')
    }
    const own = served.world.path('own.json')
    writeFileSync(own, JSON.stringify({ default: [[{ run: `touch ${touch}` }]] }))
    const page = await (await served.subscribe()).connected()
    const { prompt } = (
      await served.post('/api/prompts', {
        text: 'x',
        isNew: true,
        script: own,
        ...scripted({ say: 'As the server was started.' }),
      })
    ).json<StartedPrompt>()
    await page.until(toldOf(prompt, 'prompt.ended'))
    page.leave()
    expect(existsSync(touch)).toBe(false)
  })

  test('starts the command of run.harness once the user has agreed to it', async () => {
    const harness = `acp:${process.execPath} ${program} rehearsal`
    served.world.write('.sessions/config.yaml', `run:\n  harness: ${JSON.stringify(harness)}\n`)
    onTestFinished(() => rmSync(served.world.path('.sessions', 'config.yaml')))
    const { harnesses } = await served.get<ServerOverview>('/api/overview')
    expect(harnesses.at(-1)).toEqual({ name: harness, isThere: true })
    const page = await (await served.subscribe()).connected()
    const request = { text: 'x', isNew: true, harness }
    const { prompt } = (await served.post('/api/prompts', request)).json<StartedPrompt>()
    const events = await page.until(toldOf(prompt, 'prompt.ended'))
    expect(JSON.stringify(events)).toContain('There is no task in this prompt.')
    page.leave()
  })

  test('allows everything only where the agreed configuration does', async () => {
    const wanted = { text: 'x', permissions: 'all', ...scripted({ say: 'No.' }) }
    expect(codeOf(await served.post('/api/prompts', wanted))).toEqual([
      409,
      'PERMISSIONS_NOT_OFFERED',
    ])
    expect(await served.get('/api/overview')).toMatchObject({ permissions: ['ask', 'edits'] })
    served.world.write('.sessions/config.yaml', 'run:\n  permissions: all\n')
    onTestFinished(() => rmSync(served.world.path('.sessions', 'config.yaml')))
    expect(await served.get('/api/overview')).toMatchObject({
      permissions: ['ask', 'edits', 'all'],
      needsTrust: false,
    })
    const page = await (await served.subscribe()).connected()
    const { prompt } = (await served.post('/api/prompts', wanted)).json<StartedPrompt>()
    await page.until(toldOf(prompt, 'prompt.ended'))
    page.leave()
  })

  test('is refused with the command that helps until the user agrees to the settings', async () => {
    const path = served.world.path('.sessions', 'config.yaml')
    writeFileSync(path, 'run:\n  allow: [make]\n')
    onTestFinished(() => rmSync(path))
    const refused = await served.post('/api/prompts', { text: 'x', ...scripted({ say: 'No.' }) })
    expect(codeOf(refused)).toEqual([409, 'NEEDS_CONSENT'])
    expect(refused.text).toContain('stint trust')
    expect(await served.get('/api/overview')).toMatchObject({ needsTrust: true })
  })
})
