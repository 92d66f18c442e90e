import type { CommandContext, StricliProcess } from '@stricli/core'

/** What a command may use of the world, so that a test can give it another one. */
export interface Context extends CommandContext {
  readonly process: StricliProcess
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Somebody can be asked: both ends are a terminal and this is no CI. */
  readonly canAsk: boolean
  readonly hasColour: boolean
  /** All that comes, to its end. */
  readStdin(): Promise<string>
}
