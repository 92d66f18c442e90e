import { ndJsonStream } from '@agentclientprotocol/sdk'
import { Readable, Writable } from 'node:stream'
import { findVersion } from '../../claude/setup/program.ts'
import { serveRehearsal } from './agent.ts'
import type { Script } from './script.ts'

/** Serves the rehearsal agent on the standard input and output of this process. */
export async function serveOnStandardStreams(
  script: Script,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const stream = ndJsonStream(
    Writable.toWeb(process.stdout),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
  )
  await serveRehearsal(stream, {
    script,
    state: env['STINT_REHEARSAL_STATE'],
    run: env['STINT_RUN'] ?? '',
    version: findVersion(),
  })
}
