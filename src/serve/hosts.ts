import { hostname, networkInterfaces } from 'node:os'

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** Only these Host headers are accepted, which prevents DNS rebinding. */
export function hostsOf(host: string, port: number): ReadonlySet<string> {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  const names = isLoopback(host)
    ? ['localhost', '127.0.0.1', '::1', host]
    : isEverywhere
      ? ['localhost', hostname(), ...addresses()]
      : [host]
  const inUrls = names.map((name) => (name.includes(':') ? `[${name}]` : name).toLowerCase())
  // Browsers omit port 80.
  return new Set(
    inUrls.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])),
  )
}

function addresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  )
}
