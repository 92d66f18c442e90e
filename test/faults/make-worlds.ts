// The other side of the world maker, in the program that a sweep faults.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { MADE } from './world-maker.ts'

/** Runs the steps in each folder that standard input names. */
export async function makeWorlds(make: (world: string) => Promise<void>): Promise<void> {
  for await (const world of createInterface({ input: process.stdin })) {
    await make(world)
    writeSync(1, `${MADE}\n`)
  }
}
