import { StintError } from '../journal/errors.ts'
import { findPlace } from '../project/store/place.ts'
import { keyOf } from './projects.ts'
import { readNote, removeNote, writeNote } from './running-file.ts'
import { type RunningServer, type ServeOptions, startServer } from './start-server.ts'

export type Served =
  /** Another process serves the project already. */
  | { readonly isNew: false; readonly url: string; readonly pid: number }
  | { readonly isNew: true; readonly url: string; readonly server: RunningServer }

/** After a killed server it reuses port and token, so that an open page reconnects. */
export async function serveProject(options: ServeOptions): Promise<Served> {
  const { cwd, env } = options
  const key = keyOf(findPlace(cwd).root)
  const running = readNote(key, env)
  if (running?.isAlive === true) return alreadyServed(running, options)
  const left =
    options.token === undefined && options.host === undefined && running?.host === '127.0.0.1'
      ? running
      : undefined
  const server = await startServer({
    ...options,
    ...(left === undefined ? {} : { token: left.token, preferred: left.port }),
  })
  const { host, port, token } = server
  if (!writeNote(key, env, { host, port, token })) {
    await server.close()
    return alreadyServed(readNote(key, env)!, options)
  }
  return {
    isNew: true,
    url: server.url,
    server: {
      ...server,
      async close() {
        await server.close()
        removeNote(key, env)
      },
    },
  }
}

function alreadyServed(
  { host, port, token, pid }: { host: string; port: number; token: string; pid: number },
  options: ServeOptions,
): Served {
  const isAsWanted =
    (options.port ?? port) === port &&
    (options.host ?? host) === host &&
    (options.token ?? token) === token
  if (!isAsWanted) {
    throw new StintError(
      'ALREADY_SERVED',
      `this project is served already, on port ${port} of ${host}, by process ${pid}`,
      `end that one first: kill ${pid}`,
    )
  }
  return {
    isNew: false,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/?token=${token}`,
    pid,
  }
}
