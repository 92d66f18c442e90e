// The words of a text that tell what it is about.
import { lazily } from '../../text/lazily.ts'

/** The content words of a text, crudely stemmed; names such as `fixSweepBug` and `src/sweep_bug.go` give their parts. */
export function contentWords(text: string): ReadonlySet<string> {
  const parts = text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9\u00C0-\uFFFF]+/)
    .filter((word) => word.length > 2 && !/^[0-9]/.test(word) && !EMPTY().has(word))
  return new Set(parts.map(stem).filter((word) => !EMPTY().has(word)))
}

/** The words of a text in their order, in small letters. */
export function wordsOf(text: string): readonly string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[a-z']+/g) ?? []
  )
}

/** So crude that `caching`, `caches` and `cached` are one; two words too many made one only makes us more careful. */
function stem(word: string): string {
  return word.length <= 4
    ? word.replace(/s$/, '')
    : word.replace(/(?:ings?|ers?|ed|es|s|ions?|ly|ment|able|e)$/, '').slice(0, 7)
}

// What is in any request about any program says nothing of what it is about.
const EMPTY = lazily<ReadonlySet<string>>(
  () =>
    new Set(
      `the and for with from into onto that this these those then than there here when while where which what who whom whose why how
  you your yours our ours their them they she his her its one two three all any each every both few more most other some such
  not nor only own same too very can could will would shall should may might must has have had having does did doing done been
  being are was were but because until about against between through during before after above below out off over under again
  further once also just like than please thanks thank hello hey okay yes sure let lets now new old need needs needed want wants
  wanted make makes making made add adds adding added create creates creating write writes writing wrote use uses using used
  update updates updating change changes changing changed implement implements implementing fix fixes fixing fixed build builds
  building set sets setup get gets getting give put take show shows see look looks find finds check checks help try tries
  work works working worked way ways thing things something anything everything code file files function functions method
  class module project repo repository app application program feature bug issue problem task step steps current next last
  refactor refactors refactoring remove removes removing rename replace move moves improve clean complete completed finish start
  started major minor small big first good better best right wrong able sure really actually simple simply properly correctly whole part
  src lib dist test tests spec docs doc index main mod pkg cmd internal
  ts tsx js jsx mjs cjs py go rs md json yaml yml css html sql txt java rb php sh cpp com www http https`
        .split(/\s+/)
        .filter(Boolean),
    ),
)
