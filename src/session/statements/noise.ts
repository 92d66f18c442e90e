// Sentences that only serve the moment: questions, courtesies, comments on what the agent is about
// to do, orders for the next action. Each pattern is tried on a lowercase sentence without fillers.
import { lazily } from '../../text/lazily.ts'

/** Words before the actual sentence: "ok, ", "btw ", "so, ". */
export function withoutFillers(sentence: string): string {
  let text = sentence
  for (let before = ''; before !== text;) {
    before = text
    text = text.replace(FILLER(), '')
  }
  return text === '' ? sentence : text
}

const FILLER = lazily(
  () =>
    /^(?:(?:ok(?:ay)?|k|btw|by the way|fyi|so|well|and|also|oh|ah|hm+|um+|ehm|uh|hey|hi|hello|yeah|yep|yup|yes|nope|sure|alright|all right|right|great|perfect|nice|cool|fine|fair(?: enough)?|good(?: stuff| point| catch)?|thanks|thank you|thx|anyway|anyhow|oops|sorry|please|pls|unrelated|side note|different topic|(?:also )?(?:good|bad|great) news|small (?:[a-zà-ÿœ]+ )?update|quick update|update|for context|background(?: from my side)?|context|one (?:hard rule|more|thing)|ach(?: so)?|also gut|gut|ja|genau|übrigens|alors|bon|bien|d'accord|oui|au fait|bueno|vale|sí|por cierto|ah oui|to be honest|honestly|interesting|for the record|for info|note|heads[- ]up|quick note|one more thing|small correction|just so you know)\s*[,.:!–—;-]+\s+|(?:ok(?:ay)?|btw|also|so|and|well|yeah|yep|oh|fyi|alright|now|then|please|pls|just|bitte|übrigens|alors|pues|también|aussi|ensuite)\s+(?=\S+\s+\S))/i,
)

const MAX_UNMARKED = 90

export function isQuestion(plain: string): boolean {
  if (/[?？]["”'’)]*$/.test(plain)) return true
  // Long sentences often start like a question: "What is left for another day is …".
  return plain.length < MAX_UNMARKED && QUESTION().test(plain)
}

const QUESTION = lazily(
  () =>
    /^(?:but |and |so )?(?:(?:why|how come|who|whose|when|where) (?:is|are|was|were|do|does|did|would|should|can|could|has|have|needs)|how (?:do|does|did|can|could|would|about|is|are|much|many|long)|what (?:is|are|was|do|does|did|would|should|about|if|happens|else|kind)|which (?:is|are|one|ones|of|file|files|do|does)|(?:is|are|was|were) (?:this|that|it|there|these|those|you|we|they) |(?:does|did) (?:this|that|it|the|you|we|they|i) |do (?:you|we|they|i) |(?:can|could|would|will|should|shall|have|has) (?:i|you|we|it|this|that|there|anyone|somebody|someone) (?!not )|isn't |aren't |doesn't |don't you |wouldn't )/,
)

export function isCourtesy(plain: string): boolean {
  return COURTESY().test(plain)
}

const COURTESY = lazily(
  () =>
    /^(?:(?:good )?morning|good (?:evening|afternoon|night|catch|idea|question|point|luck|job|work)|hello|hi|hey|thanks|thank you|thx|cheers|welcome|you're (?:welcome|right|absolutely)|you are (?:right|welcome)|no (?:problem|worries|hurry|rush|pressure|need|idea|offence|clue)|never ?mind|don't (?:worry|apologi[sz]e|mind|bother)|sorry|apolog|my (?:bad|apologies|mistake)|sounds (?:good|great|like|fine)|looks (?:good|great|fine|tidy|nice)|makes sense|that (?:makes sense|sounds|looks)|that's (?:it|all|great|fine|good|a (?:good|great|fair|reasonable)|right|correct|fair|nice)|great|perfect|awesome|excellent|wonderful|lovely|amazing|always (?:a|happy)|happy to|glad|i'd be (?:glad|happy)|i(?:'m| am) (?:fine|ok|okay|good|glad|happy|afraid|sorry|torn|tired|off|back|done|impressed|confused|curious|not sure|unsure|getting)|i (?:see|agree|understand|love|hate|like|hope|wish|guess|wonder|always (?:love|forget|hate))|hopefully|fingers crossed|have a |enjoy|see you|bye|take (?:your|a)|give me (?:a|five|ten|two|one)|ready when|whatever|who (?:needs|cares|knows)|let's (?:see|look|not overthink)|we'll (?:see|cross)|fair enough|not bad|both (?:work|would|are fine)|you (?:decide|choose|must be)|keep it up|do what you|ne t'inquiète|pas de (?:souci|problème)|no te preocupes|no pasa nada|keine (?:sorge|eile|ursache)|kein (?:problem|stress)|got it|understood|noted|will do|roger|done|all (?:done|good|set|green|clear)|there we go|here we go|voilà|hmm|wow|huh|ugh|ha|lol|phew|ouch|yay|nice|c'est (?:fait|bon|parfait|noté)|merci|désolé|bonjour|salut|bonsoir|de rien|d'accord|parfait|gracias|hola|buenos|buenas|de nada|perfecto|listo|claro|lo siento|danke|hallo|guten (?:morgen|tag|abend)|moin|gern|alles klar|passt|super|prima|entschuldig|verstanden|erledigt|fertig|das ist eine gute|bis (?:morgen|später|gleich))(?![a-zà-ÿœ-])/,
)

/** Feelings, jokes and sayings, which may contain any word. */
export function isMood(plain: string): boolean {
  return MOOD().test(plain)
}

const MOOD = lazily(
  () =>
    /^(?:i (?:really |always |just |so |still |never )?(?:love|hate|adore|wish|hope|forget)|that's the (?:kind|sort) of|what a |who (?:needs|cares|knows)|i'd have (?:bet|sworn|thought|expected)|this is why (?:i|we) (?:love|hate|can't)|[a-zà-ÿœ]+(?: [a-zà-ÿœ]+)? is such an?|ich (?:liebe|hasse|hoffe)|j'(?:adore|espère)|je déteste|me (?:encanta|gusta)|odio|ojalá)(?![a-zà-ÿœ])|\b(?:makes (?:me|you) want to|made up my mind|wish me luck|fingers crossed|such a (?:mess|pain|relief|joy|nightmare|shame))\b|(?:[:;]-?[)D]|lol|haha)$|^(?:don't (?:stop|wait|rush)|no way|you're doing|some ?day|(?:never|always) (?:seen|heard|the same)|not sure (?:whether|if|what|how|about)|i(?:'m| am) not sure|ich muss (?:kurz|weg|los|sagen|gleich|jetzt)|je dois (?:partir|y aller|manger|dire)|tengo que (?:irme|salir|decir)|let's not (?:make|over[a-zà-ÿœ]*|get)|we can (?:always|still) (?:change|decide|do|come)|it's funny|no sé|no lo (?:tengo|sé)|i can't (?:believe|remember)|je ne sais pas|ich weiß nicht|i (?:have )?no idea|i don't (?:know|remember|care|think|see|get|understand|believe|mean)|i don't want to (?:be|sound|seem)|we don't (?:have|need) to|you (?:always|never|don't have|don't need|keep|forgot|could have|already)|ich hab(?:e)? keine ahnung|immer das(?:selbe| gleiche)|je n'ai jamais (?:compris|su|vu)|c'est toujours (?:la même|pareil)|siempre (?:pasa|lo mismo)|nunca (?:entend|he )[a-zà-ÿœ]*)(?![a-zà-ÿœ])/,
)

/** What other people do or say elsewhere is no fact about this project. */
export function isHearsay(plain: string): boolean {
  return HEARSAY().test(plain)
}

const HEARSAY = lazily(
  () =>
    /\b(?:(?:some|many|most|other) (?:people|folks|teams|companies|developers|projects)|people (?:say|think|claim|always)|they say|i(?:'ve)? (?:read|heard|seen) (?:somewhere|once|that some|about|teams|people)|(?:my|his|her) (?:old|last|previous|former|first) (?:job|company|team|employer|boss)|at my previous|back in the day|when i was (?:at|in|a|young)|years ago|someone (?:told|said)|as they say|manche leute|viele leute|irgendwo gelesen|certains disent|j'ai lu quelque part|mon ancien[a-zà-ÿœ]* (?:boulot|boîte|entreprise|travail)|algunos dicen|leí en algún|mi (?:antigu[a-zà-ÿœ]+|anterior) (?:trabajo|empresa))(?![a-zà-ÿœ])/,
)

/** Points at something that only this moment shows: "that one", "line 40", "the same thing". */
export function pointsAtMoment(plain: string): boolean {
  return POINTER().test(plain)
}

const POINTER = lazily(
  () =>
    /\b(?:(?:this|that|the other|the same|the (?:first|second|third|last|next|previous)) (?:one|ones|file|files|thing|things|line|lines|part|error|bit|tab|window|message|screenshot|paragraph|heading|loop|place)|lines? \d+|(?:first|last) \d+ lines|\d+ (?:lines?|files|matches|results|hits|occurrences|edits)|above|below line|[a-zà-ÿœ]+ (?:matches|places|occurrences|stellen|treffer|sitios)|do the same|same as before|as before|to go[.!]*$|for (?:the moment|a (?:second|moment|minute|bit)|now)|right now|at this point|this time|(?:don't|do not) [^.]{0,40} yet|(?:first|second|third|last|next|previous|new) (?:run|try|attempt)|as expected|i just|i meant|the ones? (?:above|below|that)|your (?:version|plan|suggestion|proposal|idea|approach|last)|(?:last|previous|earlier|my) (?:message|edit|command|attempt|answer)|diese[rsn]? (?:datei|stelle|zeile)|cette (?:ligne|partie)|ce fichier|esta (?:línea|parte)|este archivo)(?![a-zà-ÿœ])/,
)

/** Says what to do if the next action fails. */
export const IF_IT_FAILS =
  /^(?:if|when|wenn|falls|si) (?:it|that|this|not|nothing|something|anything|es|das|ça|cela|eso|no) /

/** Starts with a word that only the sentence before explains. */
export const BARE_PRONOUN =
  /^(?:it|they|he|she|that|this|these|those|es|sie|er|das|dies|il|elle|ils|elles|c'est|ce|cela|ça|esto|eso|ellos)(?:'[a-zà-ÿœ]+)?(?= (?![a-zà-ÿœ]+ (?:is|are|was|has|have|means)(?![a-zà-ÿœ])))/

/** Which function or file, only the moment shows. */
export const VAGUE_SUBJECT =
  /^(?:the|this|that) (?:function|code|method|class|error(?: message)?|variable|module|file|script|import|line|loop|query|working directory) (?:is|was|has|[a-zà-ÿœ]+s)(?![a-zà-ÿœ])/

/** What the user has on the mind besides the work. */
export function isSmallTalk(plain: string): boolean {
  return PRIVATE_LIFE().test(plain)
}

const PRIVATE_LIFE = lazily(
  () =>
    /\b(?:coffee|tea|lunch|dinner|breakfast|beer|hungry|tired|asleep|sleep|sleepy|bed|nap|kids?|daughter|son|wife|husband|cat|dog|weather|rain(?:y|ing)?|sunny|snow|weekend|vacation|holiday|birthday|party|gym|kettle|headache|(?:have|got|in) a (?:meeting|call)|back in (?:a|\d+|five|ten|half)|be quick|doctor|inbox|my (?:brain|head|eyes|desk|chair|keyboard|phone|battery)|fun|funny|joke|boring|bored|kaffee|tee|mittag(?:essen)?|müde|wochenende|urlaub|wetter|café|déjeuner|fatigué[a-zà-ÿœ]*|vacances|météo|comida|almuerzo|cansad[a-zà-ÿœ]+|vacaciones|tiempo libre)(?![a-zà-ÿœ])/,
)

/** The agent on its own activity or on the state of the moment. */
export function isNarration(plain: string): boolean {
  return ACTIVITY().test(plain) || MOMENT().test(plain) || GOES_ON().test(plain)
}

/** The state of the moment, which the next command changes. */
export function isNow(plain: string): boolean {
  return MOMENT().test(plain)
}

/** The agent repeats what the user said, or explains how to use the result. */
export function isRepetition(plain: string): boolean {
  return REPETITION().test(plain)
}

/** "…, let me read the rest." */
const GOES_ON = lazily(
  () =>
    /[,;:–—] (?:so |and |but )?(?:let me|i'll|i will|i am going to|i'm going to|trying|so (?:now )?i (?:can|could|inlined|deleted|removed|renamed|added|changed|fixed|updated|moved|created|skipped|left out)|we can (?:now |then )?(?:look|move|go|continue)|ich werde|je vais|voy a)(?![a-zà-ÿœ])|\bi(?:'ll| will) (?:read|look|check|use|try|start|go|run|create|add|show|undo|write|open)(?![a-zà-ÿœ])|(?:\bich habe|habe ich) .{0,60}(?:angepasst|geändert|hinzugefügt|entfernt|aktualisiert|erstellt|umbenannt)\b/,
)

const DID =
  'added|counted|compared|noticed|reran|adjusted|applied|changed|checked|cleaned|cleared|committed|completed|copied|corrected|created|deleted|edited|executed|extended|extracted|finished|fixed|formatted|gone|implemented|inserted|installed|listed|looked|made|moved|opened|prepared|pushed|put|ran|read|rebuilt|refactored|removed|renamed|replaced|rerun|restarted|restored|reverted|reviewed|run|saved|searched|seen|sorted|staged|started|stopped|tested|tried|undid|undone|updated|verified|went|written|wrote'

const ACTIVITY = lazily(
  () =>
    new RegExp(
      String.raw`^(?:(?:first|next|now|then|so|finally|meanwhile|also|okay|again),? |before [^,]{1,60}, |once [^,]{1,60}, |to (?:start|begin),? |with (?:that|this)[^,]{0,40}, )*(?:let me|let's (?:see|look|check|start|try|have|run|take|go)|let us|i'll|i will|i(?:'m| am) (?:now |just |still |currently )?(?:going to|about to|ready|done|finished|[a-zà-ÿœ]+ing)|i (?:need|want|have|had|plan|intend) to|i(?:'d| would) like to|(?:i(?:'ve| have)? |we(?:'ve| have)? )?(?:now |just |also |already |then |only |successfully )*(?:${DID})(?![a-zà-ÿœ-])|i (?:was about|can see|see|can now|can|could|just|now|understand|notice|found (?:it|the file|them))(?![a-zà-ÿœ])|going through|[a-zà-ÿœ]+ing (?:the|this|that|these|those|it|them|now|at|up|through|for|again|how|whether|both|all|your|my|some|each)(?![a-zà-ÿœ])|here(?:'s| is| are)|(?:this|these|that) (?:is|are) (?:the|what|how|where)|now (?:i|the|that|for|let|we|on to|to)(?![a-zà-ÿœ])|(?:the )?next (?:step|thing|up|one) (?:is|will be|would be)?:? ?(?:to )?(?:read|look|check|run|see|open|verify|inspect|find|go)|(?:my|the) plan(?: is)?:?(?: is)? (?:to )?(?:read|look|check|run|write|see|start|open|go)|instead of [^,]{1,60} i'll|on it|in progress|time to|moving on|one moment|trying|je vais|j'ai (?:[a-zà-ÿœ]+ )?(?:[a-zà-ÿœ]+é|lu|mis|fait)|je (?:corrige|regarde|lance|vérifie|commence|continue|relis)|voici|voy a|ahora|he (?:[a-zà-ÿœ]+ado|[a-zà-ÿœ]+ido|hecho)|estoy|ich (?:werde|schaue|lese|starte|prüfe|mache|sehe|öffne|passe|suche|führe|habe (?:jetzt|nun|die|das|den|alles))|jetzt|hier ist|als nächstes (?:schaue|lese|prüfe)|schauen wir)(?![a-zà-ÿœ])`,
    ),
)

const REPETITION = lazily(
  () =>
    /^(?:you (?:have|need|will)|you'll|you(?:'ve| have|'d|'re)? (?:said|want|wanted|asked|mentioned|told|like|would like|are asking|asking)|as (?:you )?(?:requested|asked|discussed|mentioned|instructed|expected|agreed)|so you|if i understand|to (?:restate|recap|summari[sz]e|confirm|clarify)|in (?:short|summary|other words)|overall|i understand|my understanding|anything else|nothing else|feel free|please (?:let|tell|note|provide|share|confirm)|let me know|just (?:let|tell)|you (?:can|could|should|may|might)(?! not| only| no longer)|once (?:that|this|it))(?![a-zà-ÿœ])/,
)

const MOMENT = lazily(
  () =>
    /^(?:(?:and|but|good|great|nice|excellent)[,:]? )?(?:the |all |all the |both |my |our )?(?:\d+ )?(?:tests?|test run|build|suite|command|script|server|linter?|linting|formatting|type ?checks?|compiler|output|exit code|working (?:directory|tree)|tree|file|files|changes?|code|page|patch|diff|edit|everything|it|that|this)(?: [a-zà-ÿœ]+)? (?:is|are|was|were|has|have|now|still|looks?|takes?|compiles?|pass(?:es|ed)?|succeed(?:s|ed)?|started|works?|worked|ran|runs|finished|failed|fails|matches|did|does|should|will|went|goes) ?(?:again|now|still|already|been|all|fine|clean|cleanly|successfully|green|done|ready|running|finished|complete[a-zà-ÿœ]*|identical|the same|up to date|in place|good|correct[a-zà-ÿœ]*|a moment|applied|updated|created|saved|committed|formatted|through|ok(?:ay)?|there|0|1|not|n't|as expected)?(?: [a-zà-ÿœ]+){0,4}[.!…]*$|^(?:the |all |all the |both )?(?:\d+ )?(?:tests|build|suite|linter?|compiler|type ?checks?|server|command|search) (?:now |still |all )?(?:pass(?:es|ed)?|finished|succeed(?:s|ed)?|compiles?|started|returned|reports?|ran|(?:is|are) (?:green|clean|running))(?![a-zà-ÿœ])|^(?:the )?(?:change|diff|patch)(?: [a-zà-ÿœ]+)? (?:is|was|only|touches)(?![a-zà-ÿœ])|\b(?:is|are|'s) (?:now )?at \d+ ?(?:%|percent|of)|\btests?(?: jetzt| now| all)? (?:pass(?:ed)?|laufen|passent|pasan|were skipped)(?![a-zà-ÿœ])|\b(?:immer noch nicht|geht (?:nicht|wieder)|marche (?:toujours )?pas|sigue sin|no funciona)(?![a-zà-ÿœ])/,
)

/** Orders for the next action; how something is done in general is no such order. */
export function isImmediateOrder(plain: string): boolean {
  return ORDER().test(plain)
}

/** Several actions in a row: "take the table, sort it, and give it back". */
export function isOrderList(plain: string): boolean {
  const clauses = plain.split(/,? (?:and(?: then)?|then) |[,;] /)
  const orders = clauses.filter((clause) => isImmediateOrder(clause) || isImperative(clause))
  return orders.length >= 2 && orders.length * 2 >= clauses.length
}

/** A sentence that starts with a verb, as far as that can be seen: "highlight the second line". */
export function isImperative(plain: string): boolean {
  const [, verb = ''] = IMPERATIVE().exec(plain) ?? []
  return (
    verb !== '' && !NO_VERBS.includes(` ${verb} `) && !/(?:[^s]s|ed|ing|ly|'[a-zà-ÿœ]+)$/.test(verb)
  )
}

const IMPERATIVE = lazily(
  () =>
    /^(?:(?:please|pls|then|and|now|just|also|first|next|again|so|can you|could you|would you|let's)[, ]+)*([a-zà-ÿœ][a-zà-ÿœ'-]+) (?:the|that|this|it|me|us|them|an?|all|these|those|both|my|your|everything|him|her)(?![a-zà-ÿœ])/,
)

const NO_VERBS =
  ' is are was were be been the a an all both like since because when after before as only in on at for with from of to by ' +
  'into onto under over about without until till if that this and or but so not never no nor always than then while where ' +
  'what which who whose why how do does did has have had will would can could may might must shall should i we you they he ' +
  'she it there here also even just still now yet once unless though although whether per via despite except between among ' +
  'during within inside outside above below behind near against through across along around toward towards upon off out up ' +
  'earlier later today yesterday tomorrow maybe perhaps sometimes often already soon overall meanwhile down half most some any every each such more less apart given '

const ORDER = lazily(
  () =>
    /^(?:(?:please|pls|then|and|now|just|also|maybe|first|next|can you|could you|would you|will you|you can|go ahead and|let's|after that|before you start|i(?:'d| would) like you to|i want you to|i need you to|only|again|no|yes|bitte|kannst du|könntest du|peux-tu|tu peux|puedes|podrías)[, ]+)*(?:run|rerun|re-run|show|open|reopen|print|list|cat|grep|search|look|read|reread|check|recheck|see|tell|explain|describe|summari[sz]e|compare|commit|push|pull|merge it|rebase|stash|fetch|clone|install|start|restart|stop|wait|hold|continue|go (?:on|ahead|back)|carry on|keep (?:going|looking|at it)|proceed|resume|retry|try|redo|undo|revert|roll|remove|delete|clean|fix|rename|move|copy|paste|add|insert|write|rewrite|draft|sketch|create|make (?:the|it(?! \d)|that(?! \d)|this|a|sure you (?:commit|run))|build|implement|refactor|extract|pull|split|convert|turn|translate|format|sort|update|upgrade|bump|switch|change|replace|swap|set up|generate|give|send|find|figure|count|measure|test|debug|investigate|dig|verify|validate|review|help|do (?:it|that|this|the same)|apply|finish|complete|wrap|close|kill|ping|call me|remind|scroll|click|type|put|git|npm|npx|node|docker|curl|ls|cd|one more time|again|once more|same (?:again|for|as)|the first [a-zà-ÿœ]+ lines|go through|make me|group|take the (?:table|file|list|json|output|text)|(?:zeig|öffne|starte|lies|führ|schau|prüf|erklär|schreib|mach|lösch|montre|ouvre|lance|affiche|explique|lis|regarde|relance|vérifie|écris|corrige|supprime|ajoute|muestra|muéstra|abre|ejecuta|lee|explica|revisa|mira|corre|escribe|corrige|borra|añade)(?:e|t|en|n|me|nos|le|ez|z|s|r)?)(?![a-zà-ÿœ'-])/,
)

/** Advice and lessons that hold for any project, which a model knows without us. */
export function isGeneralKnowledge(text: string, plain: string): boolean {
  if (OURS().test(plain)) return false
  return (
    GENERAL().test(plain) ||
    /^(?:In|With) \p{Lu}[\p{L}+#]*,/u.test(text) ||
    /\b(?:unless|when|whenever|if|that|where) you\b/.test(plain) ||
    !isDefinite(plain)
  )
}

/** One late article points at nothing: "good tests never depend on the order". */
function isDefinite(plain: string) {
  const start = plain.split(' ', 5).join(' ')
  const articles = plain.match(/\bthe [a-zà-ÿœ]/g)?.length ?? 0
  return DEFINITE().test(articles === 1 && !/[,;:(]/.test(plain) ? start : plain)
}

const GENERAL = lazily(
  () =>
    /^(?:an? [a-zà-ÿœ-]+(?: [a-zà-ÿœ-]+){0,2} (?:is|are|[a-zà-ÿœ]+s|always|never|can|should|in [a-zà-ÿœ#+]+)(?![a-zà-ÿœ])(?!.*\bthe [a-zà-ÿœ]+ [a-zà-ÿœ]+s? (?:doesn't|does|has|is)\b)|in (?:general|theory|practice|most [a-zà-ÿœ]+|many [a-zà-ÿœ]+|other words)\b|as a (?:rule of thumb|general rule|best practice|rule)|generally|usually|typically|often|it(?:'s| is) (?:usually|generally|often|always|good|best|considered|recommended|common)|in der regel|im allgemeinen|grundsätzlich|normalerweise|en général|généralement|en general|normalmente|generalmente|the [`a-zà-ÿœ]+ (?:theorem|principle|pattern|law|keyword|operator|hook|statement|block|paradigm)|(?:always|never|don't|do not|make sure|be sure|remember|avoid|prefer)|the (?:idiomatic|usual|common|standard|simplest|easiest|best|main|typical|recommended|canonical) (?:way|solution|approach|advantage|pattern|practice|fix)|every [a-zà-ÿœ]+ (?:should|needs|must)|there(?:'s| is| are) (?:more than one|several|many|different|multiple|various|always) (?:ways?|options?|approach[a-zà-ÿœ]*|possibilit[a-zà-ÿœ]+)|[a-zà-ÿœ-]+s(?: that [^,]{1,40})? should (?:never|always|not)|best practice|one (?:important|common|good|useful) thing|to [a-zà-ÿœ]+ [^,]{3,80}, (?:use|run|call|you|type|add|set|just|simply)|i(?:'d| would)? (?:suggest|recommend|advise)|you (?:might|could|can|should|may|need|have to|must|don't)|the (?:difference between|main idea|idea behind|basic idea|purpose of|rule is)|remember that|keep in mind|note that|think of)(?![a-zà-ÿœ])/,
)

/** Something that the listener can point at. */
const DEFINITE = lazily(
  () =>
    /\b(?:(?:this|these|those) [a-zà-ÿœ]|there (?:is|are|was|were)|both|nobody|someone|his|her|their|was|were|had|did|the)(?![a-zà-ÿœ])|\b(?:der|die|das|wie|le|la|les|el|los|las)\s|l'|[一-鿿ぁ-ヿ]/,
)

const OURS = lazily(
  () =>
    /\b(?:our|ours|this (?:repo|repository|project|codebase|file|branch|service|module)|we|here|production|staging|yesterday|today|last (?:week|month|night|year)|[a-zà-ÿœ]+'s (?:branch|team|machine|laptop|change|commit))(?![a-zà-ÿœ])|\d{2,}|\d (?:%|ms|s|mb|gb)\b|\d\.\d|\w\/\w|\/\w|\w_\w|\w\(/,
)
