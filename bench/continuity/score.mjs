// Counts facts in a text. Pure.

/** Present: each group has an alternative that the text contains, whatever the case. */
export function isPresent({ needs }, text) {
  const lower = text.toLowerCase()
  return needs.every((group) => group.some((words) => lower.includes(words.toLowerCase())))
}

/** The facts and stale facts in a text. A stale fact costs one. */
export function scoreOf({ facts, stale = [] }, text) {
  const missing = facts.filter((fact) => !isPresent(fact, text)).map(({ id }) => id)
  const wrong = stale.filter((fact) => isPresent(fact, text)).map(({ id }) => id)
  const present = facts.length - missing.length
  return {
    present,
    stale: wrong.length,
    net: present - wrong.length,
    of: facts.length,
    missing,
    wrong,
  }
}
