import { newTracking, readTracking, writeTracking } from '../../project/conversation/tracking.ts'
import { usualTranscript } from '../../harness/claude/transcript-path.ts'
import { errnoOf } from '../../journal/errors.ts'
import { trackingFolderOf } from '../../project/store/conversation-binding.ts'
import type { Workspace } from '../../project/store/workspace.ts'

/**
 * Notes which session a conversation of Claude Code works on and where it is written down, as hooks do: whoever goes on with it
 * on a terminal finds the session, and what was said is copied also if this process is killed. Answers where that is.
 */
export function noteConversation(
  workspace: Workspace,
  session: string,
  conversation: string,
): string {
  const folder = trackingFolderOf(workspace.place)
  const transcript = usualTranscript(conversation, workspace.cwd, workspace.env)
  const known = readTracking(folder, conversation)
  if (known?.session === session && known.transcript !== undefined) return known.transcript
  try {
    writeTracking(folder, {
      transcript,
      ...(known ?? newTracking('claude', conversation)),
      session,
    })
  } catch (error) {
    // A full or read-only disk: it is only found less easily.
    if (errnoOf(error) === undefined) throw error
  }
  return transcript
}
