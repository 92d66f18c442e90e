// What was only considered must not come back as a fact.
import { lazily } from '../../text/lazily.ts'

/** `plain` is a sentence in lower case. Only its main clause counts: "…, which would be too late". */
export function isHypothetical(plain: string): boolean {
  if (SUGGESTED().test(plain) && REJECTED().test(plain)) return true
  if (POSTPONED().test(plain)) return true
  const main = mainClause(plain)
  return SUPPOSITION().test(main) && !HARD_CLAUSE().test(plain)
}

/** A proposal of others that was not taken. */
const SUGGESTED = lazily(
  () =>
    /\b(?:suggest(?:ed|s|ion)|propos(?:ed|es|al)|recommend(?:ed|s)|pitched|brought up|floated|said (?:we|i|you) should|thinks? (?:we|i) should|wants? us to|schlug .{1,60} vor|hat .{1,60} vorgeschlagen|a (?:proposé|suggéré)|propuso|sugirió)(?![a-zà-ÿœ])/,
)
const REJECTED = lazily(
  () =>
    /\b(?:not convinced|nobody|no one|won't|will not|nonsense|rejected|declined|not going to|said no|turned (?:it|that) down|against it|not happening|no thanks|nicht überzeugt|abgelehnt|machen wir nicht|pas convaincu[a-zà-ÿœ]*|refusé|on ne le fera pas|no (?:me|nos) convence|rechaz[a-zà-ÿœ]+|no lo haremos)(?![a-zà-ÿœ])/,
)

/** What the agent would do if the user agreed, and what it only suspects. */
export function isProposal(plain: string): boolean {
  return PROPOSAL().test(mainClause(plain)) && !/^(?:tomorrow|next|later)\b/.test(plain)
}

const PROPOSAL = lazily(
  () =>
    /\b(?:i(?:'d| would)(?! (?:rather|not|call it))|i(?:'d| would)? (?:suggest|propose|recommend)|i can (?!say|confirm|see|reproduce|only|not\b)(?:also |then )?[a-zà-ÿœ]+|i (?:think|suspect|guess|assume|believe)|we (?:could|might)|you (?:could|might)|happy to|if you (?:like|want|prefer|agree|decide)|unless you object|shall i|should i|would you|want me to|tell me (?:if|whether|which)|ich würde|ich schlage vor|ich könnte|ich vermute|je propose|je pourrais|je suggère|j'imagine|propongo|podría|sugiero|supongo)(?![a-zà-ÿœ])/,
)

/** The first clause, together with the next if it only introduces it: "in theory, …". */
function mainClause(plain: string) {
  const clauses = plain.split(
    /[,;:–—]\s+|\s-\s|\s(?:because|since|so that|which|although|weil|parce que|porque)\s/,
  )
  const [first = '', second = ''] = clauses
  return first.split(' ').length <= 4 || INTRODUCTION.test(first) ? `${first}, ${second}` : first
}

const INTRODUCTION =
  /^(?:in|on|at|for|with|if|to|when|after|under|before|as|one|another|given|wenn|falls|bei|si|pour|con|para|en)\b/

/** What follows a reservation: "we could cache it, but we decided to keep the table". */
export function decidedPart(sentence: string): string | undefined {
  const parts = sentence.split(
    /[,;–—]?\s+(?:but|however|aber|doch|mais|pero|sino)\s+|\.\s+(?:but)\s+/i,
  )
  const last = parts.at(-1)!.trim()
  if (parts.length < 2 || last.length < 12) return undefined
  const plain = last.toLowerCase()
  const isOpen = [POSTPONED(), SUPPOSITION(), REJECTED()].some((pattern) => pattern.test(plain))
  return isOpen ? undefined : last
}

const SUPPOSITION = lazily(
  () =>
    /\b(?:maybe|perhaps|possibly|suppose|supposing|imagine|hypothetically|in theory|theoretically|what if|how about|what about|might (?:be|want|make|also|work|help|need|even|as well|prefer|decide|try|use|do)|(?:we|you|one|i|someone|they|it|that|this|there) (?:could|might)|could (?:be|also|either|always|even|try|use|move|add|do|have|make|switch|go)|would (?:be|make|have been|work|help|give|mean|need|allow|let|also|probably|only|still|then|love)|i(?:'d| would) have|wouldn't it|if (?:i|we|you|it|this|that|the [a-zà-ÿœ]+|they|one|there) (?:were|was|had|ever|could|decided?|wanted|went|did|moved|used|switched|needed|get|find)|if (?:only|necessary|at all|ever)|one (?:might|could|day)|some ?day|eventually|wonder(?:ing)?|toy(?:ing|ed)? with|thinking (?:about|of|out loud)|(?:i|we) (?:was|were|am|are|'m|'re) (?:thinking|considering|tempted|torn|wondering|debating)|considered|consider(?:ing)?|an? (?:option|alternative|idea|thought|possibility) (?:is|would|might|could)|another (?:option|way|idea|thought|possibility|approach)|on (?:the )?one hand|not decided|undecided|no decision|haven't decided|open question|too early|just (?:an idea|a thought|thinking|brainstorming|dreaming)|wild idea|crazy idea|pipe dream|brainstorm\w*|in an ideal world|ideally|wish(?:ed)? we|it'd be (?:nice|cool|great|fun)|tempting|either way works|for example|for instance|e\.g\.|such as|say,|let's say|assume|assuming|i (?:guess|suspect|assume)|must (?:have [a-zà-ÿœ]+(?:ed|en|t)|be (?:somewhere|something|some|because|due|nice|kidding))|haven't decided|leaning towards|let me sleep|in (?:a|an) (?:perfect|ideal) world|part of me|hunch|(?:my |a |the )?(?:first|rough|initial|vague|preliminary|early|current) (?:idea|thought|guess|suspicion|sketch|hunch|theory|plan)|gut feeling|suspicion|probably|my (?:guess|hunch|theory))(?![a-zà-ÿœ])|\b(?:vielleicht|eventuell|womöglich|möglicherweise|könnten?|könntest|würden?|wäre[n]?|hätten?|irgendwann|mal sehen|angenommen|stell dir vor|falls (?:wir|man|das)|überleg\w*|denkbar|man könnte|spinn\w* wir|theoretisch|am liebsten|wenn (?:wir|man|es|das) (?:mal|je|irgendwann)|zum beispiel|peut-être|pourrai(?:t|s|ent)|pourrions|serai(?:t|ent)|aurai(?:t|ent)|faudrait|devrait|si (?:on|nous|jamais|un jour|l'on) [a-zà-ÿœ]+(?:ait|ions|aient)|imagin(?:e|ons)|supposons|un jour|éventuellement|on verra|à voir|je me demande|par exemple|idéalement|quizás?|tal vez|a lo mejor|podr[ií]a(?:mos|n|s)?|ser[ií]a(?:n)?|habr[ií]a(?:n|mos)?|tendr[ií]a(?:n|mos)?|imagin(?:a|emos)|supongamos|alg[uú]n d[ií]a|ya veremos|si (?:alg[uú]n|tuvi[eé]ra\w*|fu[eé]ra\w*|pudi[eé]ra\w*|us[aá]ra\w*)|me pregunto|por ejemplo|estaba pensando|idealmente)(?![a-zà-ÿœ])|也许|可能|或许|如果|假如|要不要|かもしれ|もし|たぶん/,
)

const POSTPONED = lazily(
  () =>
    /\b(?:(?:but|just|though|though it's|certainly|definitely|,) not (?:now|today|yet|this (?:week|sprint|quarter|year|time)|in this (?:round|release))|(?:some day|one day|some other (?:day|time)|in another life|another time|for a rainy day|nice to have|would be (?:nice|cool|lovely|fun|great)|worth (?:a (?:try|thought|look)|considering|exploring|thinking)|might be worth|let's not (?:go|do|open|decide)|we(?:'ll| will) see|not going (?:there|to happen)|no plans? (?:to|for|yet)|nothing (?:is )?decided|don't (?:take|treat|write) (?:this|that|it)(?: down)?|(?:isn't|is not|not) a (?:decision|plan|promise|requirement)|ignore (?:that|this) (?:idea|thought)|thinking (?:aloud|out loud)|just (?:dreaming|thinking|musing|spitballing)|hypothetical\w*|if i were you|can't tell which|can't decide|hard to say)|nicht jetzt|aber nicht (?:jetzt|heute)|irgendwann mal|nur so (?:eine|ein) (?:idee|gedanke)|noch nicht entschieden|pas maintenant|plus tard peut-être|juste une idée|rien (?:n'est )?décidé|ahora no|no ahora|solo (?:es )?una idea|sólo una idea|nada decidido)(?![a-zà-ÿœ])/,
)

/** A main clause that does not depend on the supposition: a decision or an event. */
const HARD_CLAUSE = lazily(
  () =>
    /\b(?:we(?:'ve| have)? (?:decided|chose|chosen|agreed|stay|stick|tried|settled)|i(?:'m| am) going (?:for|with)|after all|i(?:'ve| have)? (?:decided|chose|chosen|tried|left|kept|dropped|reverted)|so don't|the (?:root )?cause is|turned out|turns out|deadlocked|crashed|wir (?:haben [a-zà-ÿœ]+ entschieden|nehmen|bleiben)|on (?:garde|a décidé|reste sur)|hemos decidido|nos quedamos con)(?![a-zà-ÿœ])/,
)
