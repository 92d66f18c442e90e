// English first, then common forms in other languages. Each pattern matches a whole lowercase
// clause without courtesies.
import { type Phrases, matchesPhrases, mayMatchPhrases } from '../../text/phrases.ts'
import { isWrittenByUser, sentencesOf, normalisePrompt } from './phrases.ts'

const MAX_LENGTH = 240
/** Up to this length the request may follow another sentence: "I'm back. Continue." */
const MAX_FOLLOWING_LENGTH = 120

/** A false positive costs an unneeded text, a false negative the whole memory. */
export function asksToContinue(prompt: string): boolean {
  const trimmed = prompt.trim()
  if (last.prompt !== trimmed) last = { prompt: trimmed, matchesContinue: matchesContinue(trimmed) }
  return last.matchesContinue
}

let last = { prompt: '', matchesContinue: false }

function matchesContinue(trimmed: string) {
  if (isCommonWording(trimmed)) return true
  if (trimmed.length > MAX_LENGTH || !isWrittenByUser(trimmed) || trimmed.includes('`'))
    return false
  const words = normalisePrompt(trimmed)
  if (!mayMatchPhrases(RECAP_PHRASES, words) && !mayMatchPhrases(CONTINUE_PHRASES, words))
    return false
  return sentencesOf(words).some((sentence, index) => {
    const text = stripCourtesies(sentence)
    if ([text, ...clausesOf(text)].some((clause) => matchesPhrases(RECAP_PHRASES, clause)))
      return true
    return (
      (index === 0 || trimmed.length <= MAX_FOLLOWING_LENGTH) &&
      clausesOf(text).some((clause) => isContinueClause(clause))
    )
  })
}

/** The most common wordings, without compiling a slow pattern. */
function isCommonWording(trimmed: string) {
  let end = trimmed.length
  while (trimmed[end - 1] === '.' || trimmed[end - 1] === '!') end -= 1
  const courteous = trimmed.slice(0, end).toLowerCase()
  const text = withoutEnding(withoutEnding(courteous, [', please', ' please']), [
    ' where we left off',
    ' where you left off',
  ])
  const lead = LEADING_WORDS.find((each) => text.startsWith(each))
  return COMMON_WORDINGS.has(lead === undefined ? text : text.slice(lead.length))
}

function withoutEnding(text: string, ends: readonly string[]) {
  const end = ends.find((each) => text.endsWith(each))
  return end === undefined ? text : text.slice(0, -end.length)
}

const COMMON_WORDINGS = new Set([
  'continue',
  'go on',
  'keep going',
  'carry on',
  'proceed',
  'resume',
])
const LEADING_WORDS = ['ok', 'okay', 'yes', 'please'].flatMap((word) => [`${word} `, `${word}, `])

function isContinueClause(clause: string) {
  return (
    matchesPhrases(CONTINUE_PHRASES, clause) &&
    !/\b(?:loops?|statements?|keywords?|buttons?|labels?)\b/.test(clause)
  )
}

/** The clause before a reservation ("continue, but leave the parser alone") or after a greeting. */
function clausesOf(text: string) {
  const [first = '', ...rest] = text.split(/\s*[,;:–—]\s+|\s+-\s+/)
  const isReserved =
    rest.length > 0 &&
    /^(?:but|and|then|please|with|this time|only|also|where|from|you|as|i|we|don't|do|wo|wie|aber|où|mais|pero) /.test(
      rest[0]!,
    )
  const last = rest.at(-1) ?? ''
  return [
    ...(rest.length === 0 || isReserved ? [first] : []),
    ...(isGreeting(first) ? [stripCourtesies(last)] : []),
  ]
}

function isGreeting(clause: string) {
  return (
    stripCourtesies(clause) === '' ||
    /^(?:i'm back|i am back|back again|again|(?:hi|hey|hello) (?:again|there)|sorry|good morning|morning|all right|done|thanks?|thank you)\b/.test(
      clause,
    )
  )
}

export function stripCourtesies(sentence: string): string {
  let words = sentence.replaceAll(/^[\s¿¡"'(]+|[\s.!?…"')。！？]+$/g, '')
  for (let before = ''; before !== words;) {
    before = words
    words = words
      .replace(COURTESY, '')
      .replace(
        /[,\s]+(?:please|pls|now|then|thanks|thank you|again|bitte|s'il te plaît|por favor)$/,
        '',
      )
      .trim()
  }
  return words
}

const COURTESY =
  /^(?:ok(?:ay)?|yes|yep|yeah|sure|right|alright|all right|great|good|perfect|nice|cool|fine|thanks|thank you|please|pls|now|so|well|and|hey|hi|hello|claude|just|let's|lets|let us|(?:can|could|would|will) (?:you|we)|i(?:'d| would) like (?:you )?to|i want (?:you )?to|we (?:can|should|need to)|you (?:can|may|should)|(?:time|ready) to|bitte|ja|gut|lass uns|s'il te plaît|oui|por favor|sí|vale)(?:[,.!:\s]+|$)/

const SUBJECT = String.raw`(?:we|you|i|it|things|us)`
const LEFT_OFF = String.raw`where ${SUBJECT}(?:'d| had| have|'ve)? (?:just )?(?:left (?:it |things )?(?:off)?|stopped|were|was|paused|ended(?: up)?)(?: (?:off|yesterday|last time|before|earlier|doing|at))*`

export const RECAP_PHRASES: Phrases = {
  'what did|what have': () =>
    /^what (?:did|have) (?:we|you|i) (?:do|done|achieved?|finish(?:ed)?)(?: (?:so far|last(?: time)?|yesterday|before|until now|already))+$/,
  'remind me|tell me|show me': () =>
    new RegExp(
      `^(?:remind me|tell me|show me)(?: again)? (?:${LEFT_OFF}|what ${SUBJECT} (?:were|was) (?:doing|working on))$`,
    ),
  where: () =>
    new RegExp(
      String.raw`^${LEFT_OFF}$|^(?:so )?where (?:were|was|are|did|do|had) ${SUBJECT}(?: now| again)?(?: (?:leave|left|stop|stopped|stand|get to|at|get|end up))*(?: off| it| things)*(?: (?:yesterday|last time|before|again|at|on this|with this|with that))*$`,
    ),
  ' me up| me back': () => /^(?:catch|bring|get) me (?:back )?up(?: to (?:speed|date))?$/,
  left: () =>
    /^(?:(?:is there )?(?:anything|something)|what|what else)(?: else)?(?: (?:is|'s))? left(?: (?:to (?:do|be done)|over))?$/,
  'to do next': () => /^what do (?:i|we|you) (?:need|have) to do next$/,
  'doing|working on|up to': () =>
    /^(?:what|which) (?:were|was|are|have) (?:we|you|i)(?: been)?(?: just)? (?:doing|working on|up to)(?: (?:before|again|last time|yesterday|earlier|on))*$/,
  what: () =>
    /^what(?:'s| is| comes| should (?:we|i|you) do| do we do| to do| shall we do| remains)(?: (?:next|left|remaining|still open|open|still to do))+(?: (?:to (?:do|be done)|on (?:the|our|your) (?:list|plan|agenda|todo list)|for us|here|steps?|up))*$|^what(?:'s| is| are) (?:the |our )?(?:next|remaining|open|outstanding) (?:steps?|tasks?|todos?|items?|thing|up)(?: to do)?$/,
  'remain|left': () => /^what (?:remains|is there left)(?: to (?:do|be done))?$/,
  wir: () =>
    /^(?:wo|an welcher stelle) (?:waren|sind|war|standen) wir(?: (?:noch(?: mal)?|stehen ?geblieben|gerade|denn|nochmal))*$/,
  'nächstes|noch|weiter': () =>
    /^(?:was (?:kommt|ist|steht) (?:als )?nächstes(?: an)?|was (?:ist|bleibt) noch (?:zu tun|offen|übrig)|wie geht(?:'s| es) weiter)$/,
  'où|reste|étape': () =>
    /^(?:où en (?:étions-nous|étions nous|sommes-nous|était-on|est-on)|où (?:on|nous) en (?:était|étions|est)|on en (?:était|est) où|que reste-t-il(?: à faire)?|(?:quelle est )?la prochaine étape)$/,
  'amos|sigue|falta|queda': () =>
    /^(?:(?:en|por) (?:qué|que|dónde|donde) (?:estábamos|estabamos|íbamos|ibamos|quedamos|nos quedamos)|(?:dónde|donde) (?:estábamos|estabamos|lo dejamos|nos quedamos|quedamos)|(?:qué|que) (?:sigue|falta|queda)(?: por hacer)?)$/,
  'paramos|estávamos|eravamo|остановились|дальше': () =>
    /^(?:onde (?:paramos|estávamos)|dove eravamo(?: rimasti)?|на ч[её]м мы остановились|что дальше)$/,
  '到哪|到什么|下一步|接下来|还剩|还有': () =>
    /^(?:我们|咱们|上次|刚才|之前)*(?:做|说|进行|讲|干)?到(?:哪|哪里|哪儿|什么地方)了?(?:呢|来着)?$|^(?:下一步|接下来)(?:是|做|该做|要做|干|该干)?(?:什么|啥|嘛)?(?:呢)?$|^还(?:剩|有)(?:什么|哪些)(?:没做|要做)?$/,
  'どこまで|何を|次は': () =>
    /^(?:前回|さっき|昨日)?(?:は|の)?(?:どこまで|何を)(?:やり|や|進み|進ん|し)(?:ました|った|でた|だ|てた|ていました)?(?:っけ|か|の)?$|^次は(?:何|なに)?(?:をしますか|ですか|する)?$/,
  어디까지: () => /^어디까지 (?:했지|했죠|했나요|했더라)$/,
}

export const CONTINUE_PHRASES: Phrases = {
  'continue|go on|carry on|keep|proceed|resume|press on|as you were|next|further|onward': () =>
    /^(?:continue|go on|carry on|keep going|keep on going|keep at it|keep working|keep on|proceed|resume|press on|as you were|next|next steps?|go further|onwards?)$/,
  where: () =>
    new RegExp(
      String.raw`^(?:continue|carry on|go on|resume|proceed|start again|pick (?:it |things |this |the work |work )?(?:back )?up|keep going|begin)(?: (?:again|from|right|exactly|the work|it|working|work))* ${LEFT_OFF}`,
    ),
  'continue|carry on|go on|keep|proceed': () =>
    /^(?:continue|carry on|go on|keep going|proceed|keep working)(?: on)? (?:with|from|working|until|till|as|on|what|at|à partir|avec)\b(?! error)/,
  ing: () =>
    /^(?:continue|keep|keep on) (?!reading)[a-z]+ing(?! (?:if|when|should|must|is|are|after|until)\b)(?: (?!(?:if|when|should|must|unless|after)\b)\S+){0,6}$/,
  'continue w/': () => /^continue w\/ /,
  'next|following|remaining': () =>
    /^(?:continue|proceed|move on|go on|on)(?: on)? to (?:the )?(?:next|following|remaining)\b/,
  'finish what': () => /^finish what (?:we|you|i) (?:started|began)$/,
  'continue|finish': () =>
    /^(?:continue|finish) (?:the|this|that|our|your|my|these|those)(?: \S+){1,4}$/,
  'continue|resume': () =>
    /^(?:continue|resume) (?:it|work|working|development|implementation|implementing|coding|session|task|plan)\b/,
  resume: () =>
    /^resume (?:(?:(?:the|our|my|your|this|that|last|previous|latest|old|paused) ){0,2}(?:session|work(?:flow)?|task|job|plan|effort|conversation|project|run)\b|(?:from|with|where|working|what|at)\b|(?:the|our|my|this|that) \S+(?: \S+)?$)/,
  'next|remaining|following': () =>
    /^(?:start|do|begin|take|go to|get on with|work on|move to|on with|tackle) (?:the |our )?(?:next|remaining|following)(?: (?:\S+ )?(?:step|steps|task|tasks|item|items|phase|todo|todos|one|part|thing|work))?$/,
  back: () =>
    /^(?:get|go|come|let's get|jump)? ?(?:right |straight )?back (?:to (?:it|work|business|the task|the work|what (?:we|you|i) were doing|where (?:we|you|i) (?:were|left off|stopped))|at it|on track|into it)$/,
  pick: () =>
    /^pick (?:(?:it |things |this |the work |work )?(?:back )?up (?:again|from|where)\b|(?:it|things|this|the work|work) (?:back )?up$)/,
  'weiter|fort|nächster': () =>
    /^(?:weiter(?: so|machen|arbeiten)?|mach(?:e|t)?(?: (?:da|dort|bitte|mal|einfach))* weiter(?:[ ,].{0,60})?|(?:fahre?|fahren sie)(?: bitte)? fort(?: .{0,40})?|setze? (?:die (?:arbeit|sitzung) )?fort|weiter geht(?:'s| es)|nächster schritt|arbeite weiter(?: .{0,40})?|da weitermachen wo .{0,40})$/,
  'continue|continuons|poursui|repren|enchaîne|la suite': () =>
    /^(?:on )?(?:continue[rsz]?|continuez|continuons|poursuis|poursuivez|poursuivons|reprends|reprenons|reprenez|reprendre|enchaîne)(?: (?:là où|où|avec|le travail|la session|la suite|le) ?.{0,60})?$|^la suite$/,
  'contin|sig|seg|prosig|retom|adelante': () =>
    /^(?:contin[uú]a(?:r|mos)?|continuemos|continúe|sigue|sigamos|seguimos|seguir|prosigue|prosigamos|retoma|retomemos|retomar|adelante)(?: (?:con|desde|donde|en|trabajando|el trabajo|la sesión|lo que)\b.{0,60})?$/,
  'continua|pross|siga|retome|prosegui|continuiamo|avanti|riprendi': () =>
    /^(?:continuar|continua|prossiga|prosseguir|siga|retome|prosegui|continuiamo|vai avanti|andiamo avanti|riprendi)(?: (?:da|de|onde|dove|com|con)\b.{0,60})?$/,
  'продолж|дальше': () =>
    /^(?:продолжай(?:те)?|продолжи|продолжаем|продолжим|дальше|давай дальше|поехали дальше)(?: .{0,40})?$/,
  '继续|繼續|接着|往下': () =>
    /^(?:请|請|那就|好[，,的]?|我们|咱们|麻烦)*(?:从.{0,12})?(?:继续|繼續|接着|往下)(?:吧|做|干|来|來|进行|進行|工作|之前的.{0,6}|上次的.{0,6}|做吧|下去|走|处理)*$/,
  '続|再開|進めて|次に|次へ': () =>
    /^(?:では|じゃあ|はい、?)?(?:作業を|前回の|続きを?|さっきの)*(?:続けて|続き|続行|再開|続きから|進めて|次に進んで|次へ)(?:して|お願い|ください|下さい|します|しよう|しましょう|をお願い|、|やって)*$/,
  '계속|이어서': () =>
    /^(?:그럼 |자 )?(?:계속(?:해|해줘|해주세요|하세요|하자|합시다|진행해줘|진행해)?|이어서(?: (?:해줘|해|진행해줘))?)$/,
}
