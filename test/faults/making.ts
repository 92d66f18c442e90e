// The other side of a maker of worlds, in the program that a sweep disturbs.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { MADE } from './world-maker.ts'

/** Does the same in each folder that standard input names. */
export async function makeWorlds(make: (world: string) => Promise<void>): Promise<void> {
  for await (const world of createInterface({ input: process.stdin })) {
    await make(world)
    writeSync(1, `${MADE}\n`)
  }
}
