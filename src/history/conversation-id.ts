/** The id becomes a file name, and must not be able to leave its folder. */
export function isConversationId(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(text)
}
