// Wordings that correct, withdraw or complete something stated before. Each pattern is searched in a
// lowercase sentence.
import { lazily } from '../../text/lazily.ts'

/** The speaker admits that an earlier statement was wrong. */
export const ADMITS_ERROR = lazily(
  () =>
    /\b(?:i was (?:wrong|mistaken|off)|i was not(?=[,:.;])|i (?:misread|misspoke|mistyped|misremembered|got (?:it|that) wrong|mixed up|stand corrected)|that was (?:wrong|a mistake|not right)|(?:was|is|were) (?:wrong|too (?:low|high|small|big|short|long|optimistic|pessimistic)|not right|incorrect)|not what i (?:told|said|wrote|gave|meant)|correction|have to correct|i correct|scratch that|no,? (?:make|it's|it is|that's|the|use|i)|not true|doesn't hold|does not hold|turned out (?:not|to be|wrong)|turns out|contrary to|opposite of what|falsch|ich lag (?:falsch|daneben)|stimmt nicht|korrektur|hatte unrecht|je me suis trompé|c'était faux|correction|en fait|me equivoqué|estaba mal|era incorrecto|corrección|en realidad)(?![a-zà-ÿœ])/,
)

/** Something is different from now on. */
export const CHANGES = lazily(
  () =>
    /\b(?:make (?:that|it)|instead|after all|update|one change|change of plans?|changed?(?: our minds?)?|now|no longer|not any ?more|any longer|raise[sd]?|lower(?:ed|s)?|bump(?:ed|s)?|increased?|reduced?|cut (?:to|down)|extended|postponed|moved|switch(?:ed|es)?|renamed|replaced?s?|so take|take \S+ (?:then|instead)|belongs to|was \S+ before|used to be|previously|earlier|again|actually|in fact|oops|on reflection|rather|going (?:for|to|with)|went with|stattdessen|jetzt|doch|nicht mehr|geändert|ab sofort|erhöht?|gesenkt|verschoben|maintenant|finalement|plutôt|désormais|au lieu|changé|ne [a-zà-ÿœ]+ plus|ahora|al final|en vez|en lugar|cambi[a-zà-ÿœ]+|mejor|ya no)(?![a-zà-ÿœ])|改成|改为|变更|に変更/,
)

/** The words after the cue are what is withdrawn. */
export const WITHDRAWS = lazily(
  () =>
    /\b(?:forget(?: about)?|scratch|drop(?:ped|ping)?|ditch(?:ed)?|abandon(?:ed)?|discard(?:ed)?|cancel(?:led|ed)?|withdraw|instead of|rather than|in place of|no longer|not using|stop using|moved away from|(?:changed our minds?|no more) (?:about|on|with)?|vergiss|verwirf|statt|anstatt|anstelle von|oublie[zr]?|abandonne[rz]?|au lieu (?:de|d')|olvida(?:te)?|descarta[a-zà-ÿœ]*|en (?:vez|lugar) de)\s+([^,.;:!?()]{2,60})/,
)

/** The words before the cue are what is withdrawn. */
export const IS_OFF = lazily(
  () =>
    /([^,.;:!?()]{2,60}?)\s(?:is off the table|is (?:dead|cancel(?:led|ed)|out|gone|off|history)|was (?:dropped|cancel(?:led|ed)|withdrawn|rejected)|turned out not to be|is not the (?:cause|reason|problem|culprit)|was not the (?:cause|reason|problem|culprit)|(?:doesn't|does not|didn't|did not) hold|ist vom tisch|entfällt|fällt weg|n'est plus d'actualité|tombe à l'eau|queda descartad[a-zà-ÿœ]+|ya no va)(?![a-zà-ÿœ])/,
)

export const IS_DONE = lazily(
  () =>
    /\b(?:done|finished|complete[d]?|applied|merged|deployed|shipped|released|landed|is in|are in|in place|written|fixed|resolved|solved|implemented|closed|works now|is live|is up|committed|erledigt|fertig|umgesetzt|behoben|gemerged|terminé[a-zà-ÿœ]*|fini[a-zà-ÿœ]*|corrigé[a-zà-ÿœ]*|fait|déployé[a-zà-ÿœ]*|hecho|terminad[a-zà-ÿœ]+|resuelt[a-zà-ÿœ]+|arreglad[a-zà-ÿœ]+|desplegad[a-zà-ÿœ]+)(?![a-zà-ÿœ])|完成|完了|済み/,
)

export const IS_OPEN = lazily(
  () =>
    /\b(?:still (?:has|have|needs?|to|open|missing|pending|unfixed)|has to be|have to be|needs? to be|to be (?:written|done|fixed|added)|to ?do|not (?:yet|written|done|fixed|implemented)|missing|pending|unfixed|remaining|left|next|tomorrow|later|will (?:write|add|fix|do|rewrite)|noch (?:offen|zu|nicht)|fehlt|muss noch|reste à|il manque|pas encore|falta|queda por|pendiente|todavía no)(?![a-zà-ÿœ])|待办|未完成/,
)

/** A state that a later opposite replaces. */
export const IS_BROKEN = lazily(
  () =>
    /\b(?:red|fail(?:s|ed|ing|ure)?|broken|breaks|flaky|flak(?:es|iness)|crash(?:es|ed|ing)?|down|blocked|ignore|disabled|unreachable|rot|kaputt|schlägt fehl|échoue[a-zà-ÿœ]*|cassé[a-zà-ÿœ]*|falla[a-zà-ÿœ]*|roto)(?![a-zà-ÿœ])/,
)

export const IS_WORKING = lazily(
  () =>
    /\b(?:green|pass(?:es|ed|ing)?|fixed|works|working|stable|up again|unblocked|enabled|reachable|grün|läuft (?:wieder|jetzt)|behoben|vert[a-zà-ÿœ]*|passe[a-zà-ÿœ]*|réparé[a-zà-ÿœ]*|verde|pasa[a-zà-ÿœ]*|arreglad[a-zà-ÿœ]+)(?![a-zà-ÿœ])/,
)

/** Every test passes, so no statement about failing tests holds any longer. */
export const SUITE_PASSES = lazily(
  () =>
    /\b(?:(?:suite|tests|everything|all) (?:is|are|is now|are now)? ?(?:all )?(?:green|pass(?:es|ing)?)|all (?:the |\d+ )?tests (?:pass|are green|green)|alle tests (?:sind )?grün|tous les tests passent|todos los tests pasan)(?![a-zà-ÿœ])/,
)

export const TESTS_FAIL = lazily(
  () =>
    /\b(?:tests?|suite|specs?)\b.{0,40}\b(?:fail(?:s|ing)?|red|broken)\b|\b(?:failing|red|broken) tests?\b/,
)
