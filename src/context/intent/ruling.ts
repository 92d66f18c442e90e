import {
  CHOICE_PHRASES,
  NOT_A_RULE,
  RULE_PHRASES,
} from '../../session/statements/ruling-phrases.ts'
import { type Phrases, matchesPhrases, mayMatchPhrases } from '../../text/phrases.ts'
import { isWrittenByUser, sentencesOf, normalisePrompt } from './phrases.ts'

/** A false positive is better than a missed ruling. */
export function isRuling(prompt: string): boolean {
  return matchesAnyPhrase([CHOICE_PHRASES, RULE_PHRASES], prompt)
}

/** Rulings whose rationale is worth recording. */
export function looksLikeDecision(prompt: string): boolean {
  return matchesAnyPhrase([CHOICE_PHRASES], prompt)
}

function matchesAnyPhrase(tables: readonly Phrases[], prompt: string) {
  if (!isWrittenByUser(prompt)) return false
  const words = normalisePrompt(prompt)
  const possible = tables.filter((phrases) => mayMatchPhrases(phrases, words))
  return (
    possible.length > 0 &&
    sentencesOf(words).some((sentence) => {
      const said = statementIn(sentence)
      return possible.some((phrases) => matchesPhrases(phrases, said))
    })
  )
}

/** A question is not a ruling, unless it is a request in question form. */
function statementIn(sentence: string) {
  const request = sentence.replace(
    /^(?:please |and |so |ok,? )*(?:can|could|would|will) (?:you|we)(?: please)? /,
    '',
  )
  const isQuestion = request === sentence && (/[?？]$/.test(sentence) || QUESTION.test(sentence))
  return isQuestion || NOT_A_RULE.test(request) ? '' : request
}

const QUESTION =
  /^(?:(?:but|and|so|ok|hm+|well),? )*(?:why|how|what|which|who|when|where|is|are|does|did|don't you|do you|isn't|aren't|should (?:i|we)|warum|wieso|pourquoi|por qué|为什么|なぜ)(?![\w'])/

export function looksLikeEnding(prompt: string): boolean {
  if (!isWrittenByUser(prompt) || prompt.length > 300) return false
  const words = normalisePrompt(prompt)
  if (!mayMatchPhrases(ENDINGS, words)) return false
  return sentencesOf(words).some((sentence) => {
    return (
      !sentence.endsWith('?') &&
      sentence.split(' ').length <= 14 &&
      matchesPhrases(ENDINGS, sentence)
    )
  })
}

const LEAD = String.raw`^(?:(?:ok(?:ay)?|alright|all right|great|perfect|good|thanks|thank you|well|so|and|then|now|please|i think|i guess|sorry)[,!]? )*`
const lead = (words: string) => new RegExp(`${LEAD}(?:${words})`)
const FOR_NOW = '(?: (?:for (?:today|now|tonight|the day|this week)|here|there|then|now))'

const ENDINGS: Phrases = {
  "that's|that is|this is|that will|that'll": () =>
    lead(
      `(?:that's|that is|thats|this is|that will be|that'll be) (?:all|it|enough|everything)(?:${FOR_NOW}+|,? thanks?.*|[.! ]*$)`,
    ),
  'stop|end|finish|pause|quit|leave|call it': () =>
    lead(
      `(?:(?:let's|let us|we(?:'ll| will| can| should)|i(?:'ll| will|'m going to)) )?(?:stop|end|finish|pause|quit|leave it|leave off|call it)(?: (?:it|this|things|working|work))?${FOR_NOW}+[.! ]*$`,
    ),
  'done|finished': () =>
    lead(
      `(?:(?:i'm|i am|we're|we are) (?:all )?(?:done|finished)${FOR_NOW}*|(?:all )?(?:done|finished)${FOR_NOW}+)[.! ]*$`,
    ),
  enough: () => lead(`enough${FOR_NOW}+`),
  wrap: () =>
    lead(
      `(?:(?:let's|let us|time to|we can|you can|can you) )?wrap (?:(?:it|this|things|everything) )?up(?:${FOR_NOW}+|,? please|[.! ]*$)`,
    ),
  'call it': () => lead(`(?:let's |time to )?call it (?:a (?:day|night)|quits)`),
  'bye|night|cya|have a|see y|ciao|tschüss|revoir|adiós|hasta': () =>
    lead(
      '(?:bye(?:[ -]?bye)?|goodbye|good night|cya|have a (?:good|nice|great) (?:night|evening|day|weekend)|see (?:you|ya)(?= tomorrow| later| soon| then| next| on |[,.!]|$)|ciao|tschüss|au revoir|adiós|hasta luego)(?:[ ,!.]|$)(?!.*\\b(?:message|button|event|packet|string|page|text)\\b)',
    ),
  'go|leave|run|off|head out|sleep': () =>
    lead(
      "(?:i(?:'ve| have)?|we(?:'ve| have)?) (?:have to|need to|got to|must|should) (?:go|leave|run|log off|sign off|head out|sleep)(?:[ ,!.]|$)",
    ),
  gotta: () => lead('(?:i )?gotta (?:go|run|leave)\\b'),
  'signing|logging|heading': () => lead('(?:signing|logging|heading) (?:off|out)\\b'),
  session: () =>
    lead(
      "(?:(?:let's|you can|we can) )?(?:end|close|finish) (?:the|this|my|our) session(?: now| here| please)?[.! ]*$",
    ),
  tomorrow: () => /\bback tomorrow\b/,
  'tomorrow|monday|next week|later today|another day': () =>
    /\b(?:continue|go on|resume|pick (?:this|it) up|more|the rest|see you|talk)(?: (?:this|it|again|to you))* (?:tomorrow|on monday|next week|later today|another day)\b/,
  'feierabend|das war|heute|morgen': () =>
    /(?:^|, )(?:feierabend|das war(?:'s| es)(?: für heute)?|schluss für heute|bis morgen|genug für heute|wir machen morgen weiter)/,
  'tout|demain|arrête|suffit': () =>
    /^(?:c'est tout(?: pour aujourd'hui)?|à demain|on s'arrête là|ça suffit pour aujourd'hui)/,
  'todo|mañana|hoy': () =>
    /^(?:eso es todo(?: por hoy)?|hasta mañana|por hoy (?:ya )?(?:está|basta)|terminamos por hoy)/,
  '到这|明天|再见|ここまで|明日|お疲れ|여기까지|сегодня|завтра': () =>
    /今天(?:就|先)到这|先到这|就到这里|明天(?:再|继续)|再见|今日はここまで|また明日|お疲れ様|오늘은 여기까지|на сегодня (?:все|всё|хватит)|до завтра/,
}
