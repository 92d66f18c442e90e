// All that the page knows of Stint: types, and nothing that runs.
export type * from '../library.ts'
export type { Json } from '../text/json-fields.ts'
