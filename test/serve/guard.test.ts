import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { oneTimeToken } from '../../src/serve/guard.ts'
import { allowedHosts, startServer } from '../../src/serve/start-server.ts'
import { Served, TOKEN } from './served.ts'

let served: Served
beforeAll(async () => {
  served = await Served.start()
  await served.world.run((project) => project.init({ name: 'guarded' }))
})
afterAll(() => served.end())

const problem = (answer: { json<T>(): T }) => answer.json<{ code: string }>().code

describe('the token', () => {
  test('is moved from the first address into an HttpOnly cookie', async () => {
    const answer = await served.request(`/s/1?token=${TOKEN}&project=x`, {
      headers: { cookie: undefined },
    })
    expect(answer.status).toBe(303)
    expect(answer.headers.location).toBe('/s/1?project=x')
    expect(answer.headers['set-cookie']).toEqual([
      `stint-${served.server.port}=${TOKEN}; HttpOnly; SameSite=Strict; Path=/`,
    ])
  })

  test('is in no address: a one-time token is exchanged for the cookie once', async () => {
    const { token, launch } = served.server
    const address = `/s/1?token=${oneTimeToken(token, launch)}`
    const enter = () => served.request(address, { headers: { cookie: undefined } })
    expect((await enter()).headers['set-cookie']?.[0]).toContain(TOKEN)
    expect((await enter()).status).toBe(401)
    // The browser that has the cookie may reload.
    expect((await served.request(address)).headers.location).toBe('/s/1')
  })

  test.each([
    ['another start of the server', () => oneTimeToken(TOKEN, 'another launch')],
    ['another token', () => oneTimeToken(`${TOKEN}x`, served.server.launch)],
    ['another nonce', () => `x${oneTimeToken(TOKEN, served.server.launch)}`],
    ['nothing', () => '.'],
  ])('is not granted for a one-time token of %s', async (_, token) => {
    const answer = await served.request(`/?token=${token()}`, { headers: { cookie: undefined } })
    expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined])
  })

  test('redirects only to this server', async () => {
    const answer = await served.request(`//elsewhere.example/?token=${TOKEN}`, {
      headers: { cookie: undefined },
    })
    expect(answer.headers.location).toBe('/elsewhere.example/')
  })

  test.each(['/', '/assets/page.js', '/api/overview', '/api/events', '/api/nothing'])(
    'is required for %s',
    async (path) => {
      for (const cookie of [undefined, `stint-${served.server.port}=wrong`, `stint-1=${TOKEN}`]) {
        const answer = await served.request(path, { headers: { cookie } })
        expect([answer.status, problem(answer)]).toEqual([401, 'NO_TOKEN'])
      }
      expect(
        (await served.request(`${path}?token=${TOKEN}x`, { headers: { cookie: undefined } }))
          .status,
      ).toBe(401)
    },
  )

  test('is not accepted in the address of a write', async () => {
    const answer = await served.post(
      `/api/tasks?token=${TOKEN}`,
      { title: 'x' },
      { headers: { cookie: undefined } },
    )
    expect(answer.status).toBe(401)
  })

  test('is requested in plain text from a user', async () => {
    const answer = await served.request('/', {
      headers: { cookie: undefined, accept: 'text/html' },
    })
    expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    expect(answer.text).toContain('stint serve')
  })
})

describe('a request', () => {
  test.each(['evil.example', '127.0.0.1', '127.0.0.1:1'])(
    'with the Host header "%s" is refused',
    async (host) => {
      const answer = await served.request('/api/overview', { headers: { host } })
      expect([answer.status, problem(answer)]).toEqual([403, 'WRONG_HOST'])
    },
  )

  test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]'])(
    'may use the Host header %s',
    async (name) => {
      const answer = await served.request('/api/sessions', {
        headers: { host: `${name}:${served.server.port}` },
      })
      expect(answer.status).toBe(200)
    },
  )

  test('without a Host header is refused', async () => {
    const socket = connect(served.server.port, '127.0.0.1')
    socket.end(`GET /api/overview HTTP/1.0\r\nCookie: ${served.cookie}\r\n\r\n`)
    let text = ''
    for await (const piece of socket) text += String(piece)
    expect(text).toMatch(/^HTTP\/1\.1 40[03]/)
  })

  test.each([
    { origin: 'http://evil.example', 'sec-fetch-site': undefined },
    { origin: 'http://127.0.0.1:1', 'sec-fetch-site': undefined },
    { origin: 'null', 'sec-fetch-site': undefined },
    { origin: undefined, 'sec-fetch-site': undefined },
    { origin: undefined, 'sec-fetch-site': 'cross-site' },
    { origin: undefined, 'sec-fetch-site': 'same-site' },
    { origin: undefined, 'sec-fetch-site': 'none' },
    { origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' },
  ])('that writes from another site is refused: %j', async (headers) => {
    const answer = await served.post('/api/tasks', { title: 'by another' }, { headers })
    expect([answer.status, problem(answer)]).toEqual([403, 'OTHER_SITE'])
    expect(await served.get('/api/tasks')).toEqual([])
  })

  test.each(['cross-site', 'same-site'])(
    'that reads from a page of another origin (%s) is refused',
    async (site) => {
      expect(
        (await served.request('/api/sessions', { headers: { 'sec-fetch-site': site } })).status,
      ).toBe(403)
    },
  )

  test.each([undefined, 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'that writes %s is refused',
    async (type) => {
      const answer = await served.post(
        '/api/tasks',
        { title: 'x' },
        { headers: { 'content-type': type } },
      )
      expect([answer.status, problem(answer)]).toEqual([415, 'NOT_JSON'])
    },
  )

  test.each(['{', '[]', '"text"', 'null', ''])('that writes %s is refused', async (body) => {
    const answer = await served.request('/api/tasks', { method: 'POST', body })
    expect([answer.status, problem(answer)]).toEqual([400, 'NOT_JSON'])
  })

  test('that writes too much is refused, even without a Content-Length', async () => {
    const body = Buffer.alloc(1024 * 1024 + 1, 0x20)
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await served.request('/api/tasks', { method: 'POST', body, headers })
      expect([answer.status, problem(answer)]).toEqual([413, 'TOO_LARGE'])
    }
  })

  test.each([
    '/..%2f..%2fetc%2fpasswd.txt',
    '/assets/../notes.txt',
    '/notes.txt',
    '/assets/page.js/..%2fnotes.txt',
    '/%2e%2e/%2e%2e/etc/passwd.txt',
    '/api/conversations/..%2f..%2f..%2fetc%2fpasswd',
    '/api/sessions/..%2f..%2f',
    '/api/handoffs/..%2f..%2fa.txt',
  ])('for %s returns not found', async (path) => {
    const answer = await served.request(path)
    expect(answer.status).toBe(404)
    expect(answer.json<{ message: string }>().message).not.toContain('ENOENT')
  })

  test('that is not a read changes no page', async () => {
    expect((await served.request('/', { method: 'POST', body: '{}' })).status).toBe(405)
    expect((await served.request('/api/sessions', { method: 'PUT', body: '{}' })).status).toBe(404)
  })
})

describe('a response', () => {
  test.each(['/', '/assets/page.js', '/api/overview', '/api/nothing', '/nothing.js'])(
    'to %s allows no foreign content and no framing',
    async (path) => {
      const { headers } = await served.request(path)
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
      expect(headers['content-security-policy']).not.toContain('unsafe')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['referrer-policy']).toBe('no-referrer')
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  test('is the page for every route, and the file for each file', async () => {
    for (const path of ['/', '/s/some-session', '/c/1/2', '/api/../../etc/passwd']) {
      const answer = await served.request(path)
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(answer.text).toContain('<title>Stint</title>')
    }
    const script = await served.request('/assets/page.js')
    expect([script.headers['content-type'], script.text]).toEqual([
      'text/javascript; charset=utf-8',
      'export {}',
    ])
  })
})

describe('a server for other machines', () => {
  test('requires a chosen token of minimum length', async () => {
    const options = { cwd: served.world.root, env: process.env, version: '1', host: '0.0.0.0' }
    await expect(startServer(options)).rejects.toMatchObject({ code: 'NEEDS_TOKEN' })
    await expect(startServer({ ...options, token: 'too-short' })).rejects.toMatchObject({
      code: 'TOKEN_UNFIT',
    })
    await expect(
      startServer({ ...options, token: 'with a space in it, which is none' }),
    ).rejects.toMatchObject({
      code: 'TOKEN_UNFIT',
    })
  })

  test('accepts its own addresses, also without port 80', () => {
    expect(allowedHosts('0.0.0.0', 4747)).toContain('127.0.0.1:4747')
    expect(allowedHosts('0.0.0.0', 4747)).not.toContain('evil.example:4747')
    expect([...allowedHosts('box.local', 80)]).toEqual(['box.local', 'box.local:80'])
  })
})
