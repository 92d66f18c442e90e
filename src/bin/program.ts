// Everything but the hook, in one file. A part is evaluated when it is asked for, and V8 compiles a function when it is first called.
export const cli = () => import('../cli/main.ts')
export const mcp = () => import('../mcp/serve-mcp.ts')
export const library = () => import('./library.ts')
/** The tools of a bare model, in a process beside Stint's own. */
export const tools = () => import('../harness/api/drive/tools/serve-tools.ts')
/** A thread that reads files for an import. */
export const importFiles = () => import('../project/import/import-threads.ts')
