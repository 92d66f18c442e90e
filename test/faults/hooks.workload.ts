// Serves one event of a harness as the hook program does, then the following events without faults.
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { serveHook } from '../../src/hook/serve-hook.ts'
import { refreshViews } from '../../src/project/store/refresh-views.ts'
import { openProject } from '../../src/core.ts'
import { makeWorlds } from './make-worlds.ts'
import { MAKE } from './world-maker.ts'

const [doing, ...steps] = process.argv.slice(2) as [string]
// Not awaited: a bundle with a top-level await is split into many more files, and each takes time to load.
void (doing === MAKE ? makeWorlds((world) => inTurn(world, steps)) : perform(process.cwd(), doing))

async function inTurn(cwd: string, doings: readonly string[]): Promise<void> {
  for (const one of doings) await perform(cwd, one)
}

async function perform(cwd: string, what: string): Promise<void> {
  const event = (name: string, fields: object) =>
    JSON.stringify({
      session_id: 'c-1',
      cwd,
      hook_event_name: name,
      transcript_path: join(cwd, '..', 'transcript.jsonl'),
      ...fields,
    })
  const edit = event('PostToolUse', {
    tool_name: 'Edit',
    tool_input: { file_path: join(cwd, 'code.txt') },
    tool_response: {},
  })

  if (what === 'init') {
    const project = openProject(cwd)
    const { reading } = await project.init({ name: 'first', goal: 'Be there' })
    for (const entry of reading.entries) writeSync(1, `ack ${entry.id}\n`)
    project.dispose()
  } else if (what === 'edit') {
    await serveHook(edit, process.env, refreshViews)
  } else if (what === 'stop') {
    await serveHook(event('Stop', { last_assistant_message: 'done' }), process.env, refreshViews)
  } else {
    // The process afterwards, without faults: another turn of the same conversation.
    await serveHook(
      event('UserPromptSubmit', { prompt: 'And on with the work' }),
      process.env,
      refreshViews,
    )
    await serveHook(edit, process.env, refreshViews)
    const project = openProject(cwd)
    const { entries } = await project.view()
    if (!entries.some((entry) => entry.kind === 'file.changed'))
      throw new Error('the edit is not recorded')
    for (const entry of entries) writeSync(1, `ack ${entry.id}\n`)
    project.dispose()
  }
}
