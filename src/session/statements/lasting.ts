import { lazily } from '../../text/lazily.ts'

/** An imperative that says how things are done from now on. */
export function isPolicy(plain: string): boolean {
  return POLICY().test(plain)
}

const POLICY = lazily(
  () =>
    /(?:^|[,;:–—] (?:and |so |but |then |please )?|\bplease )(?:scratch|forget|ditch|abandon|cancel|make (?:that|it) \d+|we(?:'ve| have)? changed our minds?|vergiss|oublie|olvida|ignore|treat|avoid|prefer|stick|keep|leave|assume|call it|name it|log|mark|round|skip|ask (?:me|before)|use|reuse|target|follow|respect|stay|note that|remember|limit|exclude|include|only|no [a-zà-ÿœ]+|ignorier|vermeid|lass|behalt|nimm|bleib|nutze|verwend|évite|garde|laisse|utilise|gardez|prends|ignora|evita|deja|mantén|usa|utiliza)(?![a-zà-ÿœ])/,
)

export function namesNextStep(plain: string): boolean {
  return NEXT().test(plain)
}

const NEXT = lazily(
  () =>
    /^(?:tomorrow|next(?: up| week| step| thing)?[ ,:]|after (?:this|that)(?: one)?[ ,]|later (?:today|this week))|\b(?:the next (?:step|thing|task|one|item)|next (?:step|up|on the list|i want|we|comes|is)|tomorrow (?:we|i|you)|still (?:to do|open|has to be|have to be|needs? to be|missing|pending|outstanding|unfixed)|to ?do(?:s| list)?:|follow-?ups?|remains? (?:open|to be|unsolved)|remaining (?:work|step|steps|task|tasks|problem)|is left (?:to do|for)|what is left|open (?:problem|question|issue|point|item)|one problem remains|not yet (?:done|fixed|written|implemented|covered)|als nächstes|morgen (?:machen|fangen|starten)|(?:noch|bleibt) (?:offen|zu tun)|offen ist|steht noch aus|fehlt noch|ensuite|demain (?:on|nous)|prochaine étape|(?:il )?reste (?:à|encore)|pas encore|lo siguiente|próximo paso|mañana (?:empez|segui|hac)[a-zà-ÿœ]*|queda (?:por|pendiente)|falta (?:por)?|pendiente)(?![a-zà-ÿœ])|下一步|接下来|次は|残り/,
)
