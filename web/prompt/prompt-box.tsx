/** Asks an agent, in the session that is given or in a new one. Stands at the foot of a session and above the sessions. */
export function PromptBox({ session }: { session?: string }) {
  return <div hidden data-session={session} />
}
