// Runs programs and measures their wall time, CPU time and memory.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'

export function runWall(program, args, { root, env }, input) {
  const start = performance.now()
  const result = spawnSync(program, args, {
    cwd: root,
    env,
    input,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const elapsed = performance.now() - start
  if (result.status !== 0) throw new Error(`${args} ended with ${result.status}: ${result.stderr}`)
  return { time: elapsed, stdout: result.stdout.toString() }
}

/**
 * CPU time as counted by the Node process itself, printed by a few lines loaded into both sides.
 */
export function runCpu(folder) {
  const preload = join(folder, 'cpu.cjs')
  const out = join(folder, 'cpu.json')
  writeFileSync(
    preload,
    `process.on('exit', () => { const { user, system } = process.cpuUsage(); require('fs').writeFileSync(${JSON.stringify(out)}, String((user + system) / 1000)) })\n`,
  )
  return (program, args, world, input) => {
    const { stdout } = runWall(
      program,
      args,
      { ...world, env: { ...world.env, NODE_OPTIONS: `--require ${preload}` } },
      input,
    )
    return { time: Number(readFileSync(out, 'utf8')), stdout }
  }
}

/** Peak memory of a script in megabytes. */
export function peakMemory(script) {
  const measured = `${script}
    // Linux hands the peak of the parent on to a child in maxRSS, but not in VmHWM.
    const { readFileSync } = await import('node:fs')
    const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : ''
    console.log(Number(/VmHWM:\\s*(\\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS))`
  return (
    Number(
      execFileSync(process.execPath, ['--input-type=module', '-e', measured], { encoding: 'utf8' }),
    ) / 1024
  )
}
