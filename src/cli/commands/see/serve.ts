import { stintVersion } from '../../../core.ts'
import { defined } from '../../../text/defined.ts'
import { defineCommand } from '../../context/command.ts'
import { Interrupt, UsageError } from '../../context/context.ts'
import { numberFlag, textFlag, toggle } from '../../context/flags.ts'

export const serve = defineCommand({
  brief: 'Show sessions, conversations and runs in the browser, live',
  about:
    'Serves a page on this machine only, until Ctrl-C. The address it prints can be opened once: the browser gets a cookie for it, without which\nnothing is answered. Run it again for another address. With another --host others can reach it too, over a connection that is not\nencrypted: then a token of at least 16 characters has to be chosen, in the environment variable STINT_SERVE_TOKEN.',
  usage: [
    ['--open', 'and open it in the browser'],
    ['--port 8080', 'on this port and no other'],
    ['--json', 'the address as one line of JSON'],
    ['--host 0.0.0.0', 'to be reached from other machines, with STINT_SERVE_TOKEN'],
  ],
  flags: {
    open: toggle('Open it in the browser'),
    port: numberFlag('The port; otherwise the first that is free from 4747 on'),
    host: textFlag('The address to listen on; otherwise 127.0.0.1', 'HOST'),
  },
  isLines: true,
  async run({ context, output, json }, { port, host, open }) {
    if (port !== undefined && port > 65_535)
      throw new UsageError(`there is no port ${port}`, 'ports end at 65535')
    const { serveProject } = await import('../../../serve/start-server.ts')
    const { STINT_SERVE_TOKEN: envToken, ...env } = context.env
    const token = envToken === '' ? undefined : envToken
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
      if (json) output.json({ url, isNew, pid: isNew ? process.pid : result.pid })
      else {
        if (!isNew) output.info(`this project is served already, by process ${result.pid}`)
        output.line(url)
      }
      if (open) result.open()
      if (!isNew) return
      if (!json) output.info('Ctrl-C ends it')
      await interrupt.interrupted
      await result.server.close()
    } finally {
      interrupt.dispose()
    }
  },
})
