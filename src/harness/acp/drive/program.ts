/** An agent program that speaks the protocol. */
export interface AcpProgram {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}
