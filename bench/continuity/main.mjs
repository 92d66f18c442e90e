// The continuity benchmark: what a tool brings back into the model's context.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleSources } from '../bundle.mjs'
import { installedAgent } from './agent-program.mjs'
import { CONTINUITY_HELP, continuityOptions } from './options.mjs'
import { reportOf } from './report.mjs'
import { scenarioRows } from './scenario.mjs'
import { ScriptedModel } from './scripted-model.mjs'
import { World } from './world.mjs'

const HARNESS = {
  'test/harness/model-stub.ts': ['ModelStub'],
  'test/harness/install.ts': ['CLAUDE_VERSIONS'],
}
const INTERRUPTED = 130
const say = (line) => process.stderr.write(`${line}\n`)

export async function main(args) {
  const options = continuityOptions(args)
  if (options.help) return void process.stdout.write(CONTINUITY_HELP)
  const bundle = await bundleSources(HARNESS)
  const { ModelStub, CLAUDE_VERSIONS } = await import(pathToFileURL(bundle.file).href)
  bundle.remove()
  const [version] = CLAUDE_VERSIONS
  const model = new ScriptedModel(await new ModelStub().start())
  const world = new World(installedAgent(version, say), model)
  process.once('SIGINT', () => void world.remove().then(() => process.exit(INTERRUPTED)))
  const about = { version, day: new Date().toISOString().slice(0, 10) }
  const results = []
  try {
    for await (const row of rowsOf({ world, model, options })) {
      results.push(row)
      // Written at once: a later scenario may fail.
      if (options.out !== undefined)
        writeFileSync(options.out, `${JSON.stringify({ ...about, results }, null, 2)}\n`)
    }
  } finally {
    await world.remove()
    await model.stop()
  }
  process.stdout.write(`${reportOf(results, about)}\n`)
}

async function* rowsOf({ world, model, options }) {
  for (const name of options.adapters) {
    const { default: adapter } = await import(`./adapters/${name}.mjs`)
    const missing = await adapter.missing?.()
    if (missing !== undefined) {
      say(`${name} is left out: ${missing}`)
      continue
    }
    for (const set of options.sets) {
      const file = join(import.meta.dirname, 'facts', `${set}.json`)
      for (const scenario of JSON.parse(readFileSync(file, 'utf8')).scenarios) {
        const sources = options.sources.filter(
          (source) =>
            source === scenario.source || (source === 'recorded' && scenario.source === 'user'),
        )
        if (sources.length === 0) continue
        try {
          yield* await scenarioRows({ world, model, adapter, set, scenario, sources, options, say })
        } catch (error) {
          // The other scenarios still count.
          say(`${name} ${set}/${scenario.source} failed: ${error.stack}`)
          process.exitCode = 1
        }
      }
    }
    await adapter.cleanup?.(world)
  }
}
