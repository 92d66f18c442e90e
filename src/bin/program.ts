// Everything but the hook, in one file. Each part is evaluated on first use.
export const cli = () => import('../cli/main.ts')
export const mcp = () => import('../mcp/serve-mcp.ts')
export const library = () => import('./library.ts')
/** The tools of a bare model, in a separate process. */
export const tools = () => import('../harness/api/drive/tools/serve-tools.ts')
/** A worker thread that reads files for an import. */
export const importFiles = () => import('../project/import/import-threads.ts')
