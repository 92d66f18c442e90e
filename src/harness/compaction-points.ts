import { type Figure, estimated } from '../context/budget/figures.ts'

/** Where each harness compacts by default, as its sources say. */
const POINTS: Readonly<
  Record<string, { readonly rule: string; readonly at: (window: number) => number }>
> = {
  codex: { rule: '90% of the window', at: (window) => window * 0.9 },
  gemini: { rule: '50% of the window', at: (window) => window * 0.5 },
  goose: { rule: '80% of the window', at: (window) => window * 0.8 },
  opencode: { rule: 'window less 20k', at: (window) => window - 20_000 },
  pi: { rule: 'window less 16k', at: (window) => window - 16_384 },
}

/** Where a harness of this name compacts, when nothing is known but its window. */
export function usualPoint(harness: string, window: Figure | undefined): Figure | undefined {
  const known = Object.hasOwn(POINTS, harness) ? POINTS[harness] : undefined
  if (known === undefined || window === undefined) return undefined
  const value = Math.floor(known.at(window.value))
  return value > 0 ? estimated(value, `${harness}: ${known.rule}`, window.at) : undefined
}
