import { lazily } from '../../text/lazily.ts'
import { stem } from '../../text/stem.ts'
import { IDENTIFIER } from './information.ts'

/** What a statement is about and the values it gives. */
export interface Subject {
  /** Stems of the words that carry meaning, without the values. */
  readonly words: ReadonlySet<string>
  readonly values: readonly Value[]
}

export interface Value {
  readonly type: 'number' | 'identifier' | 'name'
  /** As written. */
  readonly text: string
  /** Stems of the words next to a number: `clients` in "37 distinct clients". */
  readonly units: readonly string[]
}

// Memoised: a fold compares each statement with those of every later message.
const SUBJECTS = new Map<string, Subject>()
const MAX_SUBJECTS = 2000

export function subjectOf(text: string): Subject {
  let subject = SUBJECTS.get(text)
  if (subject !== undefined) return subject
  if (SUBJECTS.size >= MAX_SUBJECTS) SUBJECTS.clear()
  subject = { words: contentWords(text), values: valuesIn(text) }
  SUBJECTS.set(text, subject)
  return subject
}

/** Stems of the words that carry meaning; names such as `fixSweepBug` are split. */
export function contentWords(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  const split = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' ')
  for (const word of split.match(/[\p{L}\p{N}]+/gu) ?? []) {
    const plain = word.toLowerCase()
    if (/^\d/.test(plain) && !/^0\d|\p{L}/u.test(plain)) continue
    if (isStopWord(plain) || (plain.length < 3 && !/^[A-Z]{2}$|[\u3400-\u9FFF]/.test(word)))
      continue
    words.add(stem(plain))
  }
  return words
}

export function valuesIn(text: string): readonly Value[] {
  const values: Value[] = []
  const rest = text.replaceAll(IDENTIFIER(), (code) => {
    values.push({ type: 'identifier', text: code.replaceAll('`', ''), units: [] })
    const setting = /=(\d+)/.exec(code)?.[1]
    if (setting !== undefined) values.push({ type: 'number', text: setting, units: [] })
    return ' # '
  })
  for (const match of rest.matchAll(NUMBER())) {
    const units = `${match[2] ?? ''} ${match[3] ?? ''}`.toLowerCase().match(/[\p{L}%€$]+/gu) ?? []
    values.push({
      type: 'number',
      text: match[1]!,
      units: units.map(stem).filter((unit) => !isStopWord(unit)),
    })
  }
  for (const match of rest.matchAll(/(?<=[\p{L}\p{N},:;)] )\p{Lu}\p{Ll}+/gu))
    values.push({ type: 'name', text: match[0], units: [] })
  return values
}

const NUMBER = lazily(
  () => /(?<![\p{L}\p{N}#])(\d+(?:[.,:]\d+)*)(?:\s?(%|€|\$|\p{L}+)(?:\s(\p{L}+))?)?/gu,
)

const isStopWord = (word: string) => stopWords().has(word)
const stopWords = lazily(() => new Set(STOP_WORDS.trim().split(' ')))

const STOP_WORDS =
  ' the and for with from into onto that this these those then than there here when while where which what who whom whose ' +
  'why how you your our their them they she his her its one all any each every both few more most other some such not nor ' +
  'only own same too very can could will would shall should may might must has have had having does did doing done been ' +
  'being are was were but because until about against between through during before after above below out off over under ' +
  'again further once also just like please yes sure let now new old need needs want wants make makes made use uses using ' +
  'used get gets getting got give gives put take takes took come comes goes going gone see look looks way thing things ' +
  'something anything everything still yet even ever never always often much many well back really actually simply about ' +
  'message moment bit judgement myself yourself forget mind stuff whatever okay right wrong good bad first last next say says said tell told think know known two three four five keep keeps kept ' +
  'time times day days today tomorrow per via etc instead rather without within upon so far since ' +
  'der die das und oder nicht ist sind war waren wird werden wir ich sie ihr ihm ein eine einen einem einer kein keine auf ' +
  'für mit von vom zum zur bei aus nach über unter auch noch nur schon sehr dann wenn weil dass wie was wer mal bitte jetzt ' +
  'haben hat hatte kann können soll sollen muss müssen dem den des im am ab ' +
  'les des une est sont pas que qui dans pour avec sur par plus nous vous ils elle elles mais donc car cette ces son ses leur ' +
  'très aussi comme tout tous fait faire être avoir été doit peut aux ' +
  'los las una unos unas que con por para del como más pero sus este esta estos estas está están son ser hay muy también ' +
  'todo todos nos fue han hemos debe puede sin sobre cuando donde '
