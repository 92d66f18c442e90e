/** After so many edits without an entry an agent is reminded of its journal. */
export const UNLOGGED_EDITS = 5
