import { type Phrase, couldBeSaid, isSaid, phrase } from './phrases.ts'
import { isSpoken, sentencesOf, spokenWords } from './spoken.ts'

/** Whether the person is about to leave, for today or for good. */
export function looksLikeEnding(prompt: string): boolean {
  if (!isSpoken(prompt) || prompt.length > 300) return false
  const words = spokenWords(prompt)
  if (!couldBeSaid(ENDINGS, words)) return false
  return sentencesOf(words).some((sentence) => {
    return !sentence.endsWith('?') && sentence.split(' ').length <= 14 && isSaid(ENDINGS, sentence)
  })
}

const LEAD = String.raw`^(?:(?:ok(?:ay)?|alright|all right|great|perfect|good|thanks|thank you|well|so|and|then|now|please|i think|i guess|sorry)[,!]? )*`
const lead = (words: string) => new RegExp(`${LEAD}(?:${words})`)
const FOR_NOW = '(?: (?:for (?:today|now|tonight|the day|this week)|here|there|then|now))'

const ENDINGS: readonly Phrase[] = [
  phrase("that's|that is|this is|that will|that'll", () =>
    lead(
      `(?:that's|that is|thats|this is|that will be|that'll be) (?:all|it|enough|everything)(?:${FOR_NOW}+|,? thanks?.*|[.! ]*$)`,
    ),
  ),
  phrase('stop|end|finish|pause|quit|leave|call it', () =>
    lead(
      `(?:(?:let's|let us|we(?:'ll| will| can| should)|i(?:'ll| will|'m going to)) )?(?:stop|end|finish|pause|quit|leave it|leave off|call it)(?: (?:it|this|things|working|work))?${FOR_NOW}+[.! ]*$`,
    ),
  ),
  phrase('done|finished', () =>
    lead(`(?:i'm|i am|we're|we are) (?:all )?(?:done|finished)${FOR_NOW}*[.! ]*$`),
  ),
  phrase('done|finished', () => lead(`(?:all )?(?:done|finished)${FOR_NOW}+[.! ]*$`)),
  phrase('enough', () => lead(`enough${FOR_NOW}+`)),
  phrase('wrap', () =>
    lead(
      `(?:(?:let's|let us|time to|we can|you can|can you) )?wrap (?:(?:it|this|things|everything) )?up(?:${FOR_NOW}+|,? please|[.! ]*$)`,
    ),
  ),
  phrase('call it', () => lead(`(?:let's |time to )?call it (?:a (?:day|night)|quits)`)),
  phrase('bye|night|cya|have a|see y|ciao|tschüss|revoir|adiós|hasta', () =>
    lead(
      '(?:bye(?:[ -]?bye)?|goodbye|good night|cya|have a (?:good|nice|great) (?:night|evening|day|weekend)|see (?:you|ya)(?= tomorrow| later| soon| then| next| on |[,.!]|$)|ciao|tschüss|au revoir|adiós|hasta luego)(?:[ ,!.]|$)(?!.*\\b(?:message|button|event|packet|string|page|text)\\b)',
    ),
  ),
  phrase('go|leave|run|off|head out|sleep', () =>
    lead(
      "(?:i(?:'ve| have)?|we(?:'ve| have)?) (?:have to|need to|got to|must|should) (?:go|leave|run|log off|sign off|head out|sleep)(?:[ ,!.]|$)",
    ),
  ),
  phrase('gotta', () => lead('(?:i )?gotta (?:go|run|leave)\\b')),
  phrase('signing|logging|heading', () => lead('(?:signing|logging|heading) (?:off|out)\\b')),
  phrase('session', () =>
    lead(
      "(?:(?:let's|you can|we can) )?(?:end|close|finish) (?:the|this|my|our) session(?: now| here| please)?[.! ]*$",
    ),
  ),
  phrase('tomorrow', () => /\bback tomorrow\b/),
  phrase(
    'tomorrow|monday|next week|later today|another day',
    () =>
      /\b(?:continue|go on|resume|pick (?:this|it) up|more|the rest|see you|talk)(?: (?:this|it|again|to you))* (?:tomorrow|on monday|next week|later today|another day)\b/,
  ),
  phrase(
    'feierabend|das war|heute|morgen',
    () =>
      /(?:^|, )(?:feierabend|das war(?:'s| es)(?: für heute)?|schluss für heute|bis morgen|genug für heute|wir machen morgen weiter)/,
  ),
  phrase(
    'tout|demain|arrête|suffit',
    () =>
      /^(?:c'est tout(?: pour aujourd'hui)?|à demain|on s'arrête là|ça suffit pour aujourd'hui)/,
  ),
  phrase(
    'todo|mañana|hoy',
    () =>
      /^(?:eso es todo(?: por hoy)?|hasta mañana|por hoy (?:ya )?(?:está|basta)|terminamos por hoy)/,
  ),
  phrase(
    '到这|明天|再见|ここまで|明日|お疲れ|여기까지|сегодня|завтра',
    () =>
      /今天(?:就|先)到这|先到这|就到这里|明天(?:再|继续)|再见|今日はここまで|また明日|お疲れ様|오늘은 여기까지|на сегодня (?:все|всё|хватит)|до завтра/,
  ),
]
