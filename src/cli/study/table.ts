/** Rows of words under a head, to be drawn for a terminal, a page or a document. The first column names the row. */
export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}
