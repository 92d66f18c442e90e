/** How the context of a conversation filled up. Stands above what was said in it, and on the session's page for its latest. */
export function TokenCurve({ conversation }: { conversation: string }) {
  return <div hidden data-conversation={conversation} />
}
