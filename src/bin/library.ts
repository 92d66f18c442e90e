// Were library.ts loaded like this, it would be a piece of its own, and each command would load all of it.
export * from '../library.ts'
