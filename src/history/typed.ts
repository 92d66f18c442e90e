// What of a text in the name of the user somebody typed. Stint and the harnesses write some of them, and put some before what was
// typed. They are known by their marks: anything else in marks may be what somebody wanted to say.

/** A person's words follow these. */
const BEFORE = /^\s*<(stint-[a-z]+|system-reminder|ide_[a-z_]+)(?: [^<>\n]*)?>[\s\S]*?<\/\1>\s*/
/** Nobody's words follow these. */
const ALONE =
  /^\s*<(?:stint-[a-z]+|system-reminder|ide_[a-z_]+|command-(?:name|message|args)|local-command-[a-z]+|bash-(?:input|stdout|stderr)|(?:task|bash|agent|subagent)-notification|subagent_notification|teammate-message|user-prompt-submit-hook|environment_context|user_instructions|permissions instructions|collaboration_mode|turn_aborted|user_shell_command|session_context|hook_context|state_snapshot)[\s>]/

export interface Words {
  /** Before what was typed, by Stint or a harness; empty when there is nothing. */
  readonly added: string
  readonly typed: string
}

export function wordsIn(text: string): Words {
  let from = 0
  for (let found = BEFORE.exec(text); found !== null; found = BEFORE.exec(text.slice(from)))
    from += found[0].length
  const rest = text.slice(from)
  return ALONE.test(rest) ? { added: text, typed: '' } : { added: text.slice(0, from), typed: rest }
}
