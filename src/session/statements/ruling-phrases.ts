// English first, then common forms in other languages. Each pattern is searched in a lowercase
// sentence.
import type { Phrases } from '../../text/phrases.ts'

const CLAUSE = String.raw`(?:^|[,;:.(–—]\s*|\s-\s+|\b(?:and|but|or|so|then|please|also|just|you|we|that you|that we|to|make sure (?:to|you|we|it|that)|ensure (?:you|we|it|that)|should|must)\s+)`
const clause = (words: string) => new RegExp(`${CLAUSE}(?:${words})`)

export const CHOICE_PHRASES: Phrases = {
  'decided|agreed|chosen|settled|opted|voted': () =>
    /\b(?:we|i|team|they|have|has|had|'ve|been)\s+(?:already |now |finally )?(?:decided|agreed|chosen|settled|opted|voted)\b/,
  'decision|decided|verdict': () => /\b(?:decision|decided|verdict)\s*:/,
  'go |stick|stay|going ': () =>
    clause(
      String.raw`(?:let's |let us |we(?:'ll| will) |i(?:'ll| will) |i(?:'d| would) |i say )?(?:go|stick|stay|going|sticking) (?:with|for|to)\b(?! the (?:page|url|file|folder|line|dashboard|settings))`,
    ),
  'option|approach|variant|alternative|solution|plan|proposal|version': () =>
    /\b(?:let's|let us|we'll|we will|i'll take|i choose|i pick|i vote|i'd pick|take|choose|pick|use|do|implement)\s+(?:for )?(?:the )?(?:option|approach|variant|alternative|solution|plan|proposal|version)\s+(?:#|no\.? ?)?(?:[0-9]+|[a-h]|one|two|three|four)\b/,
  'option|approach|variant|alternative|plan': () =>
    /\b(?:option|approach|variant|alternative|plan)\s+(?:#|no\.? ?)?(?:[0-9]+|[a-h])(?: it is| please|,| then|$|\.)/,
  'first|second|third|last|latter|former': () =>
    /^(?:the )?(?:first|second|third|last) (?:one|option|approach|variant|alternative|solution)\b|^the (?:latter|former)\b/,
  'first|second|third|latter|former': () =>
    /\b(?:i like|i'd take|i'll take|take|choose|pick|do|use) (?:the )?(?:first|second|third|latter|former)\b/,
  ' over ': () => /^(?!.*\b(?:loop|iterate|goe?s?|went|hand|start|all)\b)(?:\S+ ){1,2}over \S+$/,
  'plan|forget': () =>
    /^(?:no[,.]? |ok[,.]? )?(?:change of plans?\b|forget (?:about )?(?!to\b)\S+)/,
  'instead of|rather than|in place of|in favo': () =>
    /\binstead of\b|\brather than\b|\bin place of\b|\bin favou?r of\b/,
  'prefer|rather': () => /\bprefer(?:ably|red|ring)?\b|\bi(?:'d| would) rather\b/,
  ' not': () =>
    clause(
      String.raw`(?:let's |we(?:'ll| will) |i want (?:you )?to |i want |keep |make it )?(?:use|using|take|put|write|call|name|make|do|run|return|target|support)?\b[^,;]{1,60}(?:,|;|\band\b|\bbut\b) not\b`,
    ),
  ' instead': () => clause(String.raw`(?:use|take|do|try|call|make)\b.{1,60}\binstead\b`),
  ' not ': () =>
    clause(String.raw`(?:make|call|name|put|write|i meant?|i want|in|with)\b.{1,40} not \S+$`),
  "let's|let us|we'll|we will|i want|we should": () =>
    clause(
      String.raw`(?:let's|let us|we(?:'ll| will)|i want (?:you )?to|we should)\s+(?:just |only |always |really )?(?:use|keep|take|have|switch to|move to|adopt|drop|skip|avoid|leave|not)\b`,
    ),
  not: () => /\bnot\b.{1,40}\bbut\b(?! (?:it|the|there|i|we|that)\b)/,
  'wir |lieber|statt|anstelle': () =>
    /\b(?:wir haben .{0,40}(?:entschieden|beschlossen)|wir nehmen|nimm lieber|lieber|anstatt|anstelle|statt)\b/,
  'plutôt|au lieu|décidé|on part|vez de|lugar de|decidi|mejor': () =>
    /\b(?:plutôt que|au lieu de|nous avons décidé|on a décidé|on part sur)|\b(?:en vez de|en lugar de|hemos decidido|decidimos|mejor usa)\b/,
  '不是|改用|决定|就用|选|ではなく|代わりに|にしま|にします|대신': () =>
    /而不是|不是.{1,20}而是|改用|我们决定|就用|选(?:择)?方案|ではなく|の代わりに|にしましょう|にします|대신/,
}

export const RULE_PHRASES: Phrases = {
  "do not|don't|never|avoid|refrain|stop |no longer|quit |always|only|under no": () =>
    clause(
      String.raw`(?:do not|don't|never|avoid|refrain from|stop \w+ing|no longer|quit \w+ing|always|only|under no circumstances)\b`,
    ),
  'skip|drop|limit|restrict|cap': () => clause(String.raw`(?:skip|drop|limit|restrict|cap)\b`),
  'do it|do this|do that': () =>
    clause(String.raw`do (?:it|this|that) (?:in|with|via|using|by|like|without|as)\b`),
  "we will not|we won't|we are not|we aren't|we do not|we don't|we can't|we cannot": () =>
    /\bwe (?:will not|won't|are not going to|aren't going to|do not|don't|can't|cannot) (?:support|use|do|add|need|ship|want|touch|change|allow|break|commit|depend)\b/,
  'should be| to |needs to|has to': () =>
    /^(?:it|this|that|everything|they) (?:should be|(?:needs|has|have) to (?:be|work|stay|run|support|keep|handle|fit))\b|^(?:needs|has) to (?:be|work|stay|run|support|keep|handle|fit)\b/,
  'use ': () => clause(String.raw`use (?:only )?\S+(?: \S+){0,3}$`),
  'keep|leave': () =>
    clause(
      String.raw`(?:keep|leave)\b.{1,60}\b(?:simple|small|short|minimal|as (?:it |they )?(?:is|are)|alone|untouched|unchanged|compatible|private|public|separate|consistent|the same|intact|out|stable|green)\b`,
    ),
  keep: () => clause(String.raw`keep (?:it|them|this|that|the)\b`),
  'no ': () =>
    /(?:^|[,;:.(–—]\s*|\bwith |\band |\bbut )no (?:more |new |extra |external |additional |further )?(?!problem|idea|worries|need\b|luck|such|one\b|longer|thanks|way\b|matter|reason|result|clue|doubt|error|output|change\b|effect|difference|tests? (?:ran|found))[a-z][\w-]*/,
  'must|has to|have to|needs to|need to|should|shall|may|can': () =>
    /\b(?:must|has to|have to|needs to|need to|should|shall|may|can)\s+(?:not|never|always|only|stay|remain|keep)\b|\b(?:mustn't|shouldn't|can't be changed|cannot change)\b/,
  must: () =>
    /\bmust (?!have\b|be (?:a |an |the |some |because|wrong|due|something|related|missing))[a-z]+/,
  "i do not|i don't|i want": () =>
    /\bi (?:do not|don't) (?:want|need|like)\b|\bi want (?!to\b|you to\b|a (?:new )?(?:page|feature|way|function|command|button)\b)[a-z]/,
  'now on|here on|forward|henceforth|future|at all times|as a rule|rule of thumb|convention|in this':
    () =>
      /\b(?:from now on|from here on|going forward|henceforth|in (?:the )?future,|at all times|as a rule|rule of thumb|by convention|in this (?:project|repo|repository|codebase),? we)\b/,
  'rul|scope|limits|forbidden|allowed|required|mandatory|negotiable|option|requirement|breaker':
    () =>
      /\brul(?:e|ed|ing) (?:it |that |this |\S+ )?out\b|\b(?:out of scope|off[ -]limits|forbidden|not allowed|is required|are required|mandatory|non-negotiable|not an option|a hard requirement|deal ?breaker)\b/,
  without: () =>
    /\bwithout (?:adding|changing|breaking|touching|using|introducing|modifying|altering|any|a new|new|extra|external|third[- ]party)\b/,
  'sure|ensure|remember|careful|mind': () =>
    /^remember:|\b(?:make sure|be sure|ensure|remember|be careful|mind)\b.{0,40}\b(?:not|never|don't|no|always|only|before|every|to|that|you|all)\b/,
  'at most|at least|no |max': () =>
    /\bat (?:most|least) \d+\b|\bno (?:more|less|fewer) than\b|\bmax(?:imum)? (?:of )?\d+\b/,
  'niemals|fall|jetzt|immer|nutze|wende|nicht|kein|ändere|fass|lösche': () =>
    /\b(?:niemals|auf keinen fall|ab jetzt|von jetzt an|immer|verwende|benutze|nutze)\b|\b(?:nicht|keine?n?)\b.{0,40}(?:ändern|anfassen|verwenden|benutzen|nutzen|löschen|committen|einführen|hinzufügen)|^(?:bitte )?keine?n? |\b(?:ändere|fass|lösche|benutze|verwende|mach)e?\b.{0,40}\b(?:nicht|keine?n?)\b/,
  "jamais|toujours|désormais|à partir|faut|interdit|ne |utilise|pas de|n'": () =>
    /\b(?:jamais|toujours|désormais|à partir de maintenant|il ne faut pas|interdit)\b|(?:^|[,;:]\s*|\s)(?:ne|n')\s?\S+ (?:pas|plus|jamais)\b|\butilise[zr]?\b|(?:^|[,;:]\s*)pas de \S+/,
  'nunca|siempre|a partir de|no |usa|utiliza|prohibido|sin ': () =>
    /\b(?:nunca|siempre|a partir de ahora|no (?:uses|toques|cambies|modifiques|hagas|añadas|borres|quiero)|usa|utiliza|prohibido|sin (?:cambiar|tocar|usar|añadir))\b/,
  '不|别|禁止|必须|务必|一定|以后|今后|只|始终|ないで|必ず|今後|絶対|のみ|하지|반드시|항상': () =>
    /不要|别(?:再|用|动|改|碰)|禁止|不准|不许|不能|必须|务必|一定要|以后都?|今后|只(?:用|能|改)|不再|始终|しないで|使わないで|触らないで|変更しないで|禁止|必ず|今後は|絶対に|のみ使|하지 ?마|반드시|항상/,
}

/** Sentences that contain the words of a rule without being one. */
export const NOT_A_RULE =
  /^(?:i |we |they |users? )?(?:don't|do not) (?:know|understand|think|remember|see|get|have|worry|mind|care|forget to (?:smile|like))\b|^(?:never ?mind|no worries|not sure|don't worry|always happy)\b/
