/** How much is kept of what an agent said at the end of its turn, and of what a delegated one answered. */
export const LONGEST_MESSAGE = 1200
export const LONGEST_RESULT = 800
