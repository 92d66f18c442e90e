import { build } from 'rolldown'

/** Bundles a TypeScript program of the tests into one file that any supported Node runs. */
export async function bundleProgram(source: string, output: string): Promise<void> {
  await build({
    input: source,
    platform: 'node',
    output: { file: output, format: 'esm', codeSplitting: false },
    logLevel: 'warn',
  })
}
