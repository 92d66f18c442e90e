// Every page and program on this machine can reach the server, so a request needs our Host, our
// origin and the token.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { HttpError } from './http-error.ts'

export interface GuardOptions {
  readonly token: string
  /** Random for each start of the server, so that a used one-time token stays used when the token is kept. */
  readonly launch: string
  /** A one-time token was exchanged for the cookie. */
  onExchange?(): void
  /** Checks a Host header such as `127.0.0.1:4400`. */
  isOwnHost(host: string): boolean
  cookieName(): string
}

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** On every response, errors included. */
export function setSecurityHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value)
}

/** For an address: it is exchanged once for the cookie. Who has the token can make one, in any process. */
export function oneTimeToken(token: string, launch: string): string {
  const nonce = randomBytes(16).toString('base64url')
  return `${nonce}.${signature(token, launch, nonce)}`
}

function signature(token: string, launch: string, nonce: string) {
  return createHmac('sha256', token).update(`${launch} ${nonce}`).digest('base64url')
}

export function guard(options: GuardOptions): MiddlewareHandler {
  const { token, launch, isOwnHost, cookieName, onExchange = () => {} } = options
  const used = new Set<string>()
  const takeOneTimeToken = (given: string) => {
    const [nonce = '', sign = ''] = given.split('.')
    if (!isSameToken(sign, signature(token, launch, nonce)) || used.has(nonce)) return false
    used.add(nonce)
    onExchange()
    return true
  }

  return async (context, next) => {
    const { req } = context
    const host = req.header('host')
    if (host === undefined || !isOwnHost(host)) {
      throw new HttpError(
        403,
        'WRONG_HOST',
        'this server is not called that',
        'open the address that stint serve printed',
      )
    }
    const isWrite = req.method !== 'GET' && req.method !== 'HEAD'
    refuseOtherSites(
      req.header('sec-fetch-site'),
      req.header('origin'),
      host,
      isWrite,
      req.path.startsWith('/api/'),
    )
    const tokenInQuery = isWrite ? undefined : req.query('token')
    const hasCookie = isSameToken(getCookie(context, cookieName()) ?? '', token)
    if (
      tokenInQuery !== undefined &&
      (isSameToken(tokenInQuery, token) || takeOneTimeToken(tokenInQuery) || hasCookie)
    ) {
      const url = new URL(req.url)
      url.searchParams.delete('token')
      context.header('Set-Cookie', `${cookieName()}=${token}; HttpOnly; SameSite=Strict; Path=/`)
      // A redirect after a link from another page, such as the file of `--open`, would be sent without the new cookie.
      return req.header('sec-fetch-site') === 'cross-site'
        ? context.html(redirectPage(localPath(url)))
        : context.redirect(localPath(url), 303)
    }
    if (!hasCookie) {
      throw new HttpError(
        401,
        'NO_TOKEN',
        'this needs the token',
        'run stint serve in the project: it prints an address that can be opened once',
      )
    }
    if (isWrite && !isJson(req.header('content-type'))) {
      throw new HttpError(415, 'NOT_JSON', 'only JSON is taken', 'Content-Type: application/json')
    }
    await next()
  }
}

/**
 * Other sites cannot read responses, but could cause writes. Browsers send Sec-Fetch-Site, or at
 * least Origin for writes.
 */
function refuseOtherSites(
  site: string | undefined,
  origin: string | undefined,
  host: string,
  isWrite: boolean,
  isApi: boolean,
) {
  const isForeign = origin !== undefined && origin !== 'null' && origin !== `http://${host}`
  const isOwn = site === undefined ? origin === `http://${host}` : site === 'same-origin'
  if (
    isForeign ||
    (isWrite && !isOwn) ||
    (isApi && site !== undefined && site !== 'same-origin' && site !== 'none')
  ) {
    throw new HttpError(403, 'OTHER_SITE', 'this comes from another site')
  }
}

/** A page that goes on to the address at once. */
export function redirectPage(address: string): string {
  const escaped = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Stint</title><meta http-equiv="refresh" content="0;url=${escaped}">\n`
}

/** Two leading slashes would redirect to another server. */
function localPath({ pathname, search }: URL) {
  return `/${pathname.replace(/^[/\\]+/, '')}${search}`
}

function isJson(type: string | undefined) {
  return type?.split(';')[0]?.trim().toLowerCase() === 'application/json'
}

/** Hashed, so that the comparison takes equal time. */
function isSameToken(given: string, token: string) {
  return timingSafeEqual(sha256(given), sha256(token))
}

function sha256(text: string) {
  return createHash('sha256').update(text).digest()
}
