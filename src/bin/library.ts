// If library.ts itself were imported dynamically, it would become one chunk that every command
// loads.
export * from '../library.ts'
