// How people settle things: English first, then a few common forms of other languages. Each pattern is looked for in a
// sentence of small letters.

/** Where somebody may begin to say what to do: a sentence, or a clause of one. */
const CLAUSE = String.raw`(?:^|[,;:.(–—]\s*|\s-\s+|\b(?:and|but|or|so|then|please|also|just|you|we|that you|that we|to|make sure (?:to|you|we|it|that)|ensure (?:you|we|it|that)|should|must)\s+)`
const clause = (words: string) => new RegExp(`${CLAUSE}(?:${words})`)

/** Ways to choose between alternatives. */
export const CHOICES: readonly RegExp[] = [
  /\b(?:we|i|team|they|have|has|had|'ve|been)\s+(?:already |now |finally )?(?:decided|agreed|chosen|settled|opted|voted)\b/,
  /\b(?:decision|decided|verdict)\s*:/,
  clause(
    String.raw`(?:let's |let us |we(?:'ll| will) |i(?:'ll| will) |i(?:'d| would) |i say )?(?:go|stick|stay|going|sticking) (?:with|for|to)\b(?! the (?:page|url|file|folder|line|dashboard|settings))`,
  ),
  /\b(?:let's|let us|we'll|we will|i'll take|i choose|i pick|i vote|i'd pick|take|choose|pick|use|do|implement)\s+(?:for )?(?:the )?(?:option|approach|variant|alternative|solution|plan|proposal|version)\s+(?:#|no\.? ?)?(?:[0-9]+|[a-h]|one|two|three|four)\b/,
  /\b(?:option|approach|variant|alternative|plan)\s+(?:#|no\.? ?)?(?:[0-9]+|[a-h])(?: it is| please|,| then|$|\.)/,
  /^(?:the )?(?:first|second|third|last) (?:one|option|approach|variant|alternative|solution)\b|^the (?:latter|former)\b/,
  /\b(?:i like|i'd take|i'll take|take|choose|pick|do|use) (?:the )?(?:first|second|third|latter|former)\b/,
  /^(?!.*\b(?:loop|iterate|goe?s?|went|hand|start|all)\b)(?:\S+ ){1,2}over \S+$/,
  /^(?:no[,.]? |ok[,.]? )?(?:change of plans?\b|forget (?:about )?(?!to\b)\S+)/,
  /\binstead of\b|\brather than\b|\bin place of\b|\bin favou?r of\b/,
  /\bprefer(?:ably|red|ring)?\b|\bi(?:'d| would) rather\b/,
  clause(
    String.raw`(?:let's |we(?:'ll| will) |i want (?:you )?to |i want |keep |make it )?(?:use|using|take|put|write|call|name|make|do|run|return|target|support)?\b[^,;]{1,60}(?:,|;|\band\b|\bbut\b) not\b`,
  ),
  clause(String.raw`(?:use|take|do|try|call|make)\b.{1,60}\binstead\b`),
  clause(String.raw`(?:make|call|name|put|write|i meant?|i want|in|with)\b.{1,40} not \S+$`),
  clause(
    String.raw`(?:let's|let us|we(?:'ll| will)|i want (?:you )?to|we should)\s+(?:just |only |always |really )?(?:use|keep|take|have|switch to|move to|adopt|drop|skip|avoid|leave|not)\b`,
  ),
  /\bnot\b.{1,40}\bbut\b(?! (?:it|the|there|i|we|that)\b)/,
  /\b(?:wir haben .{0,40}(?:entschieden|beschlossen)|wir nehmen|nimm lieber|lieber|anstatt|anstelle|statt)\b/,
  /\b(?:plutôt que|au lieu de|nous avons décidé|on a décidé|on part sur)|\b(?:en vez de|en lugar de|hemos decidido|decidimos|mejor usa)\b/,
  /而不是|不是.{1,20}而是|改用|我们决定|就用|选(?:择)?方案|ではなく|の代わりに|にしましょう|にします|대신/,
]

/** Other ways to say how things are to be. */
export const RULES: readonly RegExp[] = [
  clause(
    String.raw`(?:do not|don't|dont|never|avoid|refrain from|stop \w+ing|no longer|quit \w+ing|always|only|under no circumstances)\b`,
  ),
  clause(String.raw`(?:skip|drop|limit|restrict|cap)\b`),
  clause(String.raw`do (?:it|this|that) (?:in|with|via|using|by|like|without|as)\b`),
  /\bwe (?:will not|won't|are not going to|aren't going to|do not|don't|can't|cannot) (?:support|use|do|add|need|ship|want|touch|change|allow|break|commit|depend)\b/,
  /^(?:it|this|that|everything|they) (?:should be|(?:needs|has|have) to (?:be|work|stay|run|support|keep|handle|fit))\b|^(?:needs|has) to (?:be|work|stay|run|support|keep|handle|fit)\b/,
  clause(String.raw`use (?:only )?\S+(?: \S+){0,3}$`),
  clause(
    String.raw`(?:keep|leave)\b.{1,60}\b(?:simple|small|short|minimal|as (?:it |they )?(?:is|are)|alone|untouched|unchanged|compatible|private|public|separate|consistent|the same|intact|out|stable|green)\b`,
  ),
  clause(String.raw`keep (?:it|them|this|that|the)\b`),
  /(?:^|[,;:.(–—]\s*|\bwith |\band |\bbut )no (?:more |new |extra |external |additional |further )?(?!problem|idea|worries|need\b|luck|such|one\b|longer|thanks|way\b|matter|reason|result|clue|doubt|error|output|change\b|effect|difference|tests? (?:ran|found))[a-z][\w-]*/,
  /\b(?:must|has to|have to|needs to|need to|should|shall|may|can)\s+(?:not|never|always|only|stay|remain|keep)\b|\b(?:mustn't|shouldn't|can't be changed|cannot change)\b/,
  /\bmust (?!have\b|be (?:a |an |the |some |because|wrong|due|something|related|missing))[a-z]+/,
  /\bi (?:do not|don't|dont) (?:want|need|like)\b|\bi want (?!to\b|you to\b|a (?:new )?(?:page|feature|way|function|command|button)\b)[a-z]/,
  /\b(?:from now on|from here on|going forward|henceforth|in (?:the )?future,|at all times|as a rule|rule of thumb|by convention|in this (?:project|repo|repository|codebase),? we)\b/,
  /\brul(?:e|ed|ing) (?:it |that |this |\S+ )?out\b|\b(?:out of scope|off[ -]limits|forbidden|not allowed|is required|are required|mandatory|non-negotiable|not an option|a hard requirement|deal ?breaker)\b/,
  /\bwithout (?:adding|changing|breaking|touching|using|introducing|modifying|altering|any|a new|new|extra|external|third[- ]party)\b/,
  /^remember:|\b(?:make sure|be sure|ensure|remember|be careful|mind)\b.{0,40}\b(?:not|never|don't|no|always|only|before|every|to|that|you|all)\b/,
  /\bat (?:most|least) \d+\b|\bno (?:more|less|fewer) than\b|\bmax(?:imum)? (?:of )?\d+\b/,
  /\b(?:niemals|auf keinen fall|ab jetzt|von jetzt an|immer|verwende|benutze|nutze)\b|\b(?:nicht|keine?n?)\b.{0,40}(?:ändern|anfassen|verwenden|benutzen|nutzen|löschen|committen|einführen|hinzufügen)|^(?:bitte )?keine?n? |\b(?:ändere|fass|lösche|benutze|verwende|mach)e?\b.{0,40}\b(?:nicht|keine?n?)\b/,
  /\b(?:jamais|toujours|désormais|à partir de maintenant|il ne faut pas|interdit)\b|(?:^|[,;:]\s*|\s)(?:ne|n')\s?\S+ (?:pas|plus|jamais)\b|\butilise[zr]?\b|(?:^|[,;:]\s*)pas de \S+/,
  /\b(?:nunca|siempre|a partir de ahora|no (?:uses|toques|cambies|modifiques|hagas|añadas|borres|quiero)|usa|utiliza|prohibido|sin (?:cambiar|tocar|usar|añadir))\b/,
  /不要|别(?:再|用|动|改|碰)|禁止|不准|不许|不能|必须|务必|一定要|以后都?|今后|只(?:用|能|改)|不再|始终|しないで|使わないで|触らないで|変更しないで|禁止|必ず|今後は|絶対に|のみ使|하지 ?마|반드시|항상/,
]

/** Sentences that have the words of a rule and settle nothing. */
export const NOT_A_RULE =
  /^(?:i |we |they |users? )?(?:don't|do not|dont) (?:know|understand|think|remember|see|get|worry|mind|care|forget to (?:smile|like))\b|^(?:never ?mind|no worries|not sure|don't worry|always happy)\b/
