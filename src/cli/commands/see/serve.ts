import { stintVersion } from '../../../core.ts'
import { defined } from '../../../text/defined.ts'
import { defineCommand } from '../../context/command.ts'
import { Interrupt, UsageError } from '../../context/context.ts'
import { numberFlag, textFlag, toggle } from '../../context/flags.ts'

export const serve = defineCommand({
  brief: 'Show sessions, conversations and runs in the browser, live',
  about:
    'Serves a page on this machine only, until Ctrl-C. The address it prints holds a token, without which nothing is answered; the browser keeps it\nas a cookie. With another --host others can reach it too, over a connection that is not encrypted: then a token has to be\nchosen, as STINT_SERVE_TOKEN or with --token, which others on this machine can see in the list of processes.',
  usage: [
    ['--open', 'and open it in the browser'],
    ['--port 8080', 'on this port and no other'],
    ['--json', 'the address as one line of JSON'],
    ['--host 0.0.0.0 --token "$(openssl rand -hex 16)"', 'to be reached from other machines'],
  ],
  flags: {
    open: toggle('Open it in the browser'),
    port: numberFlag('The port; otherwise the first that is free from 4747 on'),
    host: textFlag('The address to listen on; otherwise 127.0.0.1', 'HOST'),
    token: textFlag(
      'The token to demand, at least 16 characters; otherwise STINT_SERVE_TOKEN or a random one',
      'TOKEN',
    ),
  },
  isLines: true,
  async run({ context, output, json }, { port, host, open, ...flags }) {
    if (port !== undefined && port > 65_535)
      throw new UsageError(`there is no port ${port}`, 'ports end at 65535')
    const { openBrowser, serveProject } = await import('../../../serve/start-server.ts')
    const { STINT_SERVE_TOKEN: envToken, ...env } = context.env
    const token = flags.token ?? (envToken === '' ? undefined : envToken)
    // Agents started from the page must not inherit it.
    delete process.env.STINT_SERVE_TOKEN
    const interrupt = new Interrupt('SIGINT', 'SIGTERM', 'SIGHUP')
    try {
      const result = await serveProject({
        version: stintVersion(),
        cwd: context.cwd,
        env,
        say: (line) => output.info(line),
        ...defined({ port, host, token }),
      })
      const { url, isNew } = result
      if (json) output.line(JSON.stringify({ url, isNew, pid: isNew ? process.pid : result.pid }))
      else {
        if (!isNew) output.info(`this project is served already, by process ${result.pid}`)
        output.line(url)
      }
      if (open) openBrowser(url, env)
      if (!isNew) return
      if (!json) output.info('Ctrl-C ends it')
      await interrupt.interrupted
      await result.server.close()
    } finally {
      interrupt.dispose()
    }
  },
})
