export type * from '../library.ts'
export type { Json } from '../text/json-fields.ts'
