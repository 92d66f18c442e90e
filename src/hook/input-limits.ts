export const LONGEST_INPUT = 32 * 1024 * 1024
/** How long input is waited for. */
export const INPUT_MS = 900
