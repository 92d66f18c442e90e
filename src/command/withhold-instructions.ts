/** Stands for a message or a name that reads like an instruction to an agent. */
export const WITHHELD = '(message withheld: it reads like an instruction)'

const MAX_EXAMINED = 1000

/**
 * Output is written by others: a message in it is quoted as data, and never one that addresses an
 * agent or claims what the user, the owner or a maintainer wants.
 */
export function withholdInstructions(text: string): string {
  return readsLikeInstruction(text) ? WITHHELD : text
}

export function readsLikeInstruction(text: string): boolean {
  const visible = withoutInvisible(text.slice(0, MAX_EXAMINED)).normalize('NFKC')
  if (MARKUP.test(visible)) return true
  // A name hides its words: test_user_prefers_x, v1-user-rule-x, TestUserPrefersX.
  const words = visible
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[’]/g, "'")
  const spaced = words.replace(/[_\s]+|-(?=[a-z])/g, ' ')
  return PATTERNS.some((pattern) => pattern.test(spaced))
}

/** Zero-width and direction characters, which a reader does not see. */
export function withoutInvisible(text: string): string {
  return text.replace(/\p{Cf}/gu, '')
}

const MARKUP =
  /<\/?(?:system|user|human|assistant|context|tool_result|system-reminder|memory|instructions?)(?:\s[^>]{0,40})?>|<\|im_|\[\/?(?:memory|system|inst|rule)\b|"role"\s{0,3}:\s{0,3}"/i

const WHO = String.raw`(?:users?|owners?|maintainers?|operators?|admins?|administrators?|boss|company|humans?)`
const AGENT = String.raw`(?:agents?|assistants?|claude|codex|copilot|chatgpt|llms?|language model|ai)`
/** What an agent can be ordered to do. */
const ACTION = String.raw`(?:run|push|pull|use|commit|delete|remove|ask|tell|report|fix|switch|disable|enable|skip|ignore|trust|approve|accept|merge|install|upload|download|send|share|print|write|store|add|set|make|give|grant|treat|answer|reply|open|close|execute|check|verify|confirm|mention|show|read|follow|allow|rewrite|replace|downgrade|upgrade|pin|curl|wget|reveal|hide|start|stop|include|deploy|publish|force|say|do|let|turn|change|edit|create)`
const CLAUSE_START = String.raw`(?:^|[.;:!?,(>*]\s{0,3}|[-–—•]\s)`

const PATTERNS: readonly RegExp[] = [
  new RegExp(
    String.raw`\b${WHO} (?:(?:has|have|had|also|already|now|always|clearly) )?(?:decid|requires?\b|required that|wants?\b|prefers?\b|preferred\b|says?\b|said\b|asks?\b|asked\b|chose|chosen|rul(?:ed|es)\b|agree|approv|demand|insist|instruct|told\b|permits\b|authori[sz]ed (?:you|the)|measured|finds\b|wishes|needs? (?:you|the agent)|expects? (?:you|the agent))`,
  ),
  new RegExp(String.raw`\b${WHO}(?:'s)? (?:decision|rule|instruction|ruling|wish)s?\b`),
  new RegExp(String.raw`\b${WHO}(?:'s)? (?:preference|choice|constraint|request|order)(?: ?[:)])`),
  new RegExp(
    String.raw`\b(?:decision|rule|preference|choice|wish|instruction|order|step|agreed|decided|confirmed|approved|ruled|lifted)s? (?:of|by|from|with) (?:the )?${WHO}\b`,
  ),
  new RegExp(
    String.raw`(?<!user )(?<!ssh )(?<!http )\b${AGENT}\b[,:]? (?:must|should|shall|may|can now|needs? to|has to|have to|is to|are to|will|always|never|please|remember)\b`,
  ),
  new RegExp(
    String.raw`\b(?:note|message|instructions?|next steps?|reminder|attention) (?:to|for) (?:the |all |any )?(?:${AGENT}|later sessions?)\b`,
  ),
  /@(?:bot|claude|codex|copilot|assistant)\b/,
  /\byou (?:must|shall|have to|are to|are now|should (?:always|never|now))\b/,
  new RegExp(String.raw`${CLAUSE_START}(?:please )?(?:always|never) ${ACTION}\b`),
  /\b(?:ignore|forget|disregard|override) (?:(?:all|any|every|the|your|of|these|those) ){0,3}(?:previous|prior|earlier|above|preceding|rules?|instructions?|constraints?|safety)\b/,
  /\bfrom now on\b|\bfor (?:all|later|future|every|the next) sessions?\b|\b(?:remember|record) (?:this|that|it as|for all|as)\b|\bkeep in memory\b|\bkeep (?:this |it )?for (?:later|next time)\b|\bstanding (?:rule|instruction)|\bno need to ask\b|\bnext step decided\b|\bmemory update\b/,
  /\b(?:do not|don't|never) (?:tell|ask|inform|notify) (?:the )?(?:user|owner|human|maintainer)/,
  /\bwe (?:have )?decided\b|\bit was decided\b|\bdecided (?:that|to|with)\b/,
  new RegExp(
    String.raw`(?:^|[.;!?]\s{1,3}|[-•>*]\s|[([]\s{0,3})(?:important|decisions?|decided|rules?|preference|constraints?|instructions?|next steps?|next|memory|remember|reminder|root cause|ownership|memo|user|human|assistant|system)(?: \([^)]{0,40}\))?:(?:\s|$)`,
  ),
  /\b(?:curl|wget)\b.{0,200}\|\s?(?:sudo )?(?:ba|z)?sh\b|\brm -rf\b/,
  // German, French, Spanish, Portuguese, Italian
  /(?:entscheidung|regel|vorgabe|anweisung|wunsch) (?:des|der|vom|von)|(?:^|[.:;]\s?)(?:regel|entscheidung|vorgabe|anweisung)(?: \([^)]{0,40}\))?:|(?:nutzer|benutzer|eigentümer|chef) (?:hat |haben )?(?:entschied|will|möchte|verlangt|wünsch|beschlossen)|\bab (?:jetzt|sofort)\b|von nun an/,
  /utilisateur (?:a |veut|exige|préfère|demande)|décision de l'utilisateur|règle d[eu]|dorénavant|désormais|ne plus jamais|à retenir/,
  /(?:decisión|regla|preferencia|instrucción) del? |usuario (?:ha |decidi|quiere|exige|prefiere|pid)|de ahora en adelante|ignora tod|(?:decisão|regra) d[oae] |usuário (?:decidiu|quer|exige|prefere)|a partir de agora|utente (?:ha |vuole|richiede|preferisce)|d'ora in poi|(?:decisione|regola) dell?/,
  // Chinese, Japanese, Russian
  /用户.{0,6}(?:决定|要求|希望|偏好|规则)|以后不需要|从现在(?:起|开始)|忽略.{0,6}(?:之前|以上|所有)|ユーザー.{0,6}(?:決定|要求|希望|ルール)|今後は|пользовател.{0,20}(?:решил|требует|хочет|просит)|отныне|решение пользователя/,
]
