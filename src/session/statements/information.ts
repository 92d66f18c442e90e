// What makes a sentence worth keeping: names, numbers, identifiers, dates, causes and limits, in
// any language.
import { lazily } from '../../text/lazily.ts'

export interface Information {
  readonly numbers: number
  readonly identifiers: number
  readonly names: number
  readonly times: number
  readonly causes: number
  readonly limits: number
  /** Words such as `all` and `still`, which are frequent in small talk too. */
  readonly quantities: number
  readonly states: number
  readonly words: number
}

/** `plain` is the text in lower case. Of an author who starts sentences in lower case, a capital is a name. */
export function informationIn(text: string, plain: string, isLowercase = false): Information {
  const codes = new Set(text.match(IDENTIFIER()) ?? [])
  const rest = text.replaceAll(IDENTIFIER(), ' # ')
  return {
    identifiers: codes.size,
    numbers: countOf(rest.toLowerCase(), NUMBER()),
    names: namesIn(rest, isLowercase),
    times: countOf(plain, TIME()),
    causes: countOf(plain, CAUSE()),
    limits: countOf(plain, LIMIT()),
    quantities: countOf(plain, QUANTITY()),
    states: countOf(plain, STATE()),
    words: wordCount(plain),
  }
}

/** From 0 upwards; a sentence that only talks has less than 2. */
export function informationScore(info: Information): number {
  return (
    steps(info.identifiers, 2, 1, 0.5) +
    steps(info.numbers, 2, 1, 0.5) +
    steps(info.names, 1.5, 1, 0.5) +
    steps(info.times, 1, 0.5, 0) +
    steps(info.causes, 1.5, 0.5, 0) +
    steps(info.limits, 1.5, 1, 0) +
    steps(info.quantities, 0.75, 0.25, 0) +
    steps(info.states, 1, 0.5, 0.25) +
    (info.words >= 9 ? 1 : info.words >= 5 ? 0.5 : 0)
  )
}

function steps(count: number, first: number, second: number, more: number) {
  if (count === 0) return 0
  return first + (count > 1 ? second : 0) + Math.min(Math.max(count - 2, 0), 3) * more
}

const countOf = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

function wordCount(text: string) {
  const cjk = countOf(text, /[\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7A3]/g)
  return countOf(text, /[a-z\d\u00C0-\u024F][^\s,;:.!?()]*/g) + cjk / 2
}

/** Code, paths, files, snake and camel case, tickets, versions, addresses, settings and flags. */
export const IDENTIFIER = lazily(
  () =>
    /`[^`\n]{1,120}`|https?:\/\/\S+|(?<![\w/])\.?[\w@.-]{0,80}\/[\w@./*:-]{0,160}\w|(?<![\w-])--?[a-zA-Z][\w-]+(?:=\S+)?|\b[\w-]{1,80}\.(?:[cm]?[jt]sx?|json\w?|ya?ml|toml|md|py|rs|go|java|rb|php|sql|sh|css|html?|csv|txt|env|lock|xml|log|proto|ini|cfg|conf|db)\b|\b[\w.]{1,80}\(\)|\b\w+\([\w.,' ]{0,40}\)(?=\s)|\b[A-Za-z]\w*_\w+(?:=\S+)?|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+(?:[A-Z][a-z0-9]+)+\b|\b[A-Z]{2,}-\d+\b|\bv?\d+\.\d+\.\d+(?:\.\d+)?\b|\bv\d+(?:\.\d+)*\b|\b[a-z]+(?:-[a-z]+){0,8}-\d+\b|\b[a-z]+(?:-[a-z]+){2,8}\b|\b[\w-]{1,80}:\d[\w.]*\b|\bp\d\d\b|\b[0-9a-f]{7,40}\b|\.[a-z]+\.[a-z]+\b|={2,3}/g,
)

const NUMBER = lazily(
  () =>
    /\d[\d.,:]*\s?(?:%|€|\$|£|[kmgt]i?b\b|ms\b|s\b|min\b|h\b|px\b)?|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred|thousand|million|half|twice|once|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|hundert|tausend|doppelt|zweimal|deux|trois|quatre|cinq|sept|huit|neuf|dix|cent|mille|deux fois|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien|mil)\b/g,
)

/** Capitalised words inside a sentence, and acronyms. German writes every noun so. */
function namesIn(text: string, isLowercase: boolean) {
  const words = text.replaceAll(/[“”"„«»(]/g, '').split(/\s+/)
  const isGerman = GERMAN().test(text)
  let names = 0
  words.forEach((word, index) => {
    if (/^(?:[A-Z]{2,}[a-z]?|[A-Z]+\d\w*)(?=\W|$)/.test(word)) names += 1
    else if (/^[A-ZÀ-Þ][a-zß-ÿ]/.test(word) && !/^I['’]/.test(word)) {
      const before = words[index - 1] ?? ''
      const isFirst = index === 0 || /[.!?:;–—-]$/.test(before)
      if (isFirst ? isLowercase || isNameAtStart(word, words[index + 1] ?? '') : !isGerman)
        names += 1
      else if (isGerman && !isFirst) names += 0.25
    }
  })
  return Math.floor(names)
}

const GERMAN = lazily(
  () =>
    /\b(?:der|die|das|und|nicht|ist|wir|ich|ein|eine|auf|für|mit|bitte|sind|wird|den|dem|von)\b/,
)

/** "Priya owns the schema" starts with a name, "Rounding is half-even" does not. */
function isNameAtStart(word: string, next: string) {
  return (
    /^[A-ZÀ-Þ][a-zß-ÿ]/.test(next) ||
    (/^[a-zà-ÿœ]+['’]s\b/.test(word) &&
      !/^(?:It|That|What|Let|There|Here|He|She|Who|Where|How)['’]s/.test(word))
  )
}

const TIME = lazily(
  () =>
    /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|march|april|june|july|august|september|october|november|december|tomorrow|tonight|quarter|q[1-4]|week(?:ly|end|ends)?|month(?:ly)?|night(?:ly)?|spring|summer|autumn|winter|noon|midnight|utc|deadline|until|till|deadline|since (?:then|the|last)|every (?:day|night|morning|week|month|hour)|each (?:day|night|morning|week|month|january))\b|\b(?:montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|januar|februar|märz|mai|juni|juli|oktober|dezember|morgen|woche|monat|quartal|nachts|jahr|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|demain|semaine|mois|lunes|martes|miércoles|jueves|viernes|sábado|domingo|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|mañana|semana|mes|noche|hasta|jusqu)\b|[年月日]|\b\d{1,2}:\d\d\b|\b\d{1,2}(?:st|nd|rd|th)\b/g,
)

const CAUSE = lazily(
  () =>
    /\b(?:because|since|hence|therefore|thus|due to|caused?|causes|reason|root cause|thanks to|which is why|that's why|comes? from|came from|so that|otherwise|as (?:the|our|their|it|they|we|nobody|excel|\w+'s)|which means|leads? to|explains)\b|[,;] so\b|\b(?:weil|wegen|deshalb|daher|sonst|damit|denn|dadurch|deswegen|parce que|car|donc|à cause|puisque|grâce|afin|porque|por eso|debido|ya que|así que|para que|pues)\b|因为|所以|ため|から、/g,
)

const LIMIT = lazily(
  () =>
    /\b(?:never|not|nobody|nothing|nowhere|only|must|mustn't|cannot|can't|don't|doesn't|didn't|won't|isn't|aren't|wasn't|shouldn't|without|at most|at least|except|exempt|instead|rather than|always|no longer|unless|more than|less than|no more than|fewer|max(?:imum)?|min(?:imum)?|forbidden|not allowed|required|has to|neither|nor|as long as|by default)\b|(?:^|[,;:] |with |has |have |is |are |there's |there is )no [a-zà-ÿœ]|\b(?:nicht|kein[a-zà-ÿœ]*|nie|niemals|nur|muss|müssen|darf|dürfen|immer|ohne|mindestens|höchstens|maximal|außer|statt|ne|pas|jamais|sans|seul[a-zà-ÿœ]*|doit|doivent|toujours|il faut|uniquement|sauf|aucun[a-zà-ÿœ]*|nunca|sin|solo|sólo|solamente|debe[a-zà-ÿœ]*|siempre|jamás|ningun[a-zà-ÿœ]*|ningún|excepto|salvo|hay que|tiene que)(?![a-zà-ÿœ])|不|只|必须|别|禁止|ない|のみ|必ず/g,
)

const QUANTITY = lazily(
  () =>
    /\b(?:every|each|per|both|all|still|any(?:more| longer)|below|above|under|over|limit(?:ed|s)?|allowed|have to|needs? to|ought to|should|may|as soon as|whenever|default|none|jede[rsnm]?|pro|alle|soll(?:en|te)?|bleibt|erst|chaque|tous|toutes|plus de|moins de|cada|todos|todas|más de|menos de)(?![a-zà-ÿœ])|每|毎/g,
)

/** How things are: names, places, owners, faults and changes of state. */
const STATE = lazily(
  () =>
    /\b(?:called|named|owns?|owned|owner|belongs?|lives?|sits?|stored|kept|keeps?|runs? (?:on|in|under)|uses?|used|reads?|writes?|sends?|returns?|expects?|supports?|ignores?|ignored|drops?|dropped|breaks?|broke(?:n)?|fails?|failed|crash(?:es|ed)?|missing|lost|leaks?|deadlock\w*|timeout|times? out|blocks?|bypass\w*|killed|slow(?:er|s)?|fast(?:er)?|known|accepted|unfixed|open|moved|renamed|replaced|removed|reverted|merged|applied|released?|deployed|unpushed|pushed|ends?|starts?|restarts?|leaves|goes|takes|took|costs?|counts?|contains?|covers?|stays?|remains?|falls? back|differs?|shares?|requires?|depends?|assumes?|restarted|away|rounded|encoded|parsed|patched|restricted|fixed|found|shows?|gives|made|behind|inside|outside|duplicate[sd]?|exists?|confirmed|agreed|decided|tried|measured)\b|\b(?:heißt|liegt|läuft|gehört|nutzt|verwendet|braucht|fehlt|bleibt|speichert|liefert|schickt|kommt|endet|beginnt|kaputt|langsam|entschieden|s'appelle|appartient|tourne|utilise|manque|reste|envoie|renvoie|stocké\w*|finit|commence|lent|décidé|refuse|gère|llama|pertenece|corre|usa|falta|queda|envía|devuelve|guarda\w*|termina|empieza|lento|decidido|rechaza|reinicia|vive|está)\b/g,
)
