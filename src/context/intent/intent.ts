import { GO_ON, WHERE_WERE_WE } from './continuation.ts'
import { couldBeSaid, isSaid } from './phrases.ts'
import { isSpoken, sentencesOf, spokenWords } from './spoken.ts'

/** Longer than anybody says who only means to go on. */
const LONGEST = 240
/** Up to here, going on may be said after something else: "I'm back. Continue." */
const SHORT = 120

/**
 * Whether a prompt asks to go on with what was done before. A false yes costs a text that was not needed; a false
 * no costs the whole memory; a word that merely occurs is neither.
 */
export function asksToContinue(prompt: string): boolean {
  const trimmed = prompt.trim()
  if (last.prompt !== trimmed) last = { prompt: trimmed, asks: asks(trimmed) }
  return last.asks
}

// It is asked of one prompt more than once.
let last = { prompt: '', asks: false }

function asks(trimmed: string): boolean {
  if (isPlain(trimmed)) return true
  if (trimmed.length > LONGEST || !isSpoken(trimmed) || trimmed.includes('`')) return false
  const words = spokenWords(trimmed)
  if (!couldBeSaid(WAYS, words)) return false
  return sentencesOf(words).some((sentence, index) => {
    const said = bare(sentence)
    if ([said, ...clausesOf(said)].some((clause) => isSaid(WHERE_WERE_WE, clause))) return true
    return (
      (index === 0 || trimmed.length <= SHORT) &&
      clausesOf(said).some((clause) => isGoingOn(clause))
    )
  })
}

/** What most people say: "ok, continue where we left off, please". Told without a pattern, which takes longer to make than the rest. */
function isPlain(trimmed: string): boolean {
  let end = trimmed.length
  while (trimmed[end - 1] === '.' || trimmed[end - 1] === '!') end -= 1
  const courteous = trimmed.slice(0, end).toLowerCase()
  const said = without(without(courteous, [', please', ' please']), [
    ' where we left off',
    ' where you left off',
  ])
  const lead = LEADS.find((each) => said.startsWith(each))
  return PLAINLY.has(lead === undefined ? said : said.slice(lead.length))
}

function without(said: string, ends: readonly string[]): string {
  const end = ends.find((each) => said.endsWith(each))
  return end === undefined ? said : said.slice(0, -end.length)
}

const PLAINLY = new Set(['continue', 'go on', 'keep going', 'carry on', 'proceed', 'resume'])
const LEADS = ['ok', 'okay', 'yes', 'please'].flatMap((word) => [`${word} `, `${word}, `])

const WAYS = [...WHERE_WERE_WE, ...GO_ON]

function isGoingOn(clause: string): boolean {
  return (
    isSaid(GO_ON, clause) && !/\b(?:loops?|statements?|keywords?|buttons?|labels?)\b/.test(clause)
  )
}

/** What is said first, before a reservation: "continue, but leave the parser alone"; and what is left after a greeting. */
function clausesOf(said: string): readonly string[] {
  const [first = '', ...rest] = said.split(/\s*[,;:–—]\s+|\s+-\s+/)
  const isReserved =
    rest.length > 0 &&
    /^(?:but|and|then|please|with|this time|only|also|where|from|you|as|i|we|don't|do|wo|wie|aber|où|mais|pero) /.test(
      rest[0]!,
    )
  const last = rest.at(-1) ?? ''
  return [
    ...(rest.length === 0 || isReserved ? [first] : []),
    ...(isGreeting(first) ? [bare(last)] : []),
  ]
}

function isGreeting(clause: string): boolean {
  return (
    bare(clause) === '' ||
    /^(?:i'm back|i am back|back again|again|(?:hi|hey|hello) (?:again|there)|sorry|good morning|morning|all right|done|thanks?|thank you)\b/.test(
      clause,
    )
  )
}

/** Without the courtesies around it. */
export function bare(sentence: string): string {
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
