import { lazily } from '../../text/lazily.ts'
import { splitSentences } from './split-sentences.ts'

/** The sentences that ask for something: questions, orders and wishes. */
export function requestsIn(text: string): readonly string[] {
  return splitSentences(text).filter(
    (sentence) => /[?？]\s*$/.test(sentence) || REQUEST().test(sentence),
  )
}

/** After fillers such as "ok, now": an order, or words that introduce a wish. */
const REQUEST = lazily(
  () =>
    /^(?:(?:ok(?:ay)?|alright|great|perfect|good|nice|cool|fine|thanks|thank you|and|so|then|now|next|also|but|first|finally|yes|yep|sure|right|hi|hey|hello|morning|unrelated|btw|by the way|from there|after that|just|go ahead and)[,.!:]?\s+)*(?:please|pls|can|could|would|will you|let'?s|let us|go ahead|i(?:'d| would) like|i want you|i need you|we need to|we have to|add|apply|ask|build|bump|change|check|clean|close|commit|compare|convert|create|debug|delete|deploy|describe|document|draft|drop|explain|export|extend|extract|figure|find|finish|fix|format|generate|give|have a look|implement|import|improve|inline|install|integrate|introduce|investigate|keep|leave|lint|list|look|make|measure|merge|migrate|move|open|optimi[sz]e|parse|port|prepare|print|publish|pull|push|put|raise|read|refactor|reject|remind|remove|rename|replace|report|research|restart|revert|review|rewrite|round|run|send|set|show|split|start|stop|store|switch|take|tell|test|tidy|trace|translate|try|tune|turn|undo|update|upgrade|use|verify|wire|work|wrap|write|bitte|kannst du|könntest du|mach|zeig|schreib|prüf|füg|lass uns|peux-tu|pouvez-vous|s'il te plaît|ajoute|montre|vérifie|puedes|podrías|por favor|añade|muestra|revisa)(?![\w-])/i,
)
