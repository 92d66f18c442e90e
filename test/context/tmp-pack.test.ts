import { it } from 'vitest'
// @ts-nocheck
import { generateSession } from '../../bench/packing-sessions.mjs'
import { fold } from '../../src/session/fold.ts'
import { mintId } from '../../src/journal/ids.ts'
import { packContext, explainContext } from '../../src/context/injected-context.ts'
it('x', () => {
  for (const seed of [3, 11]) {
    const { entries, continuation } = generateSession(seed) as any
    const ids = new Map(); let last: any
    const records = entries.map(({ ref, data, ...d }: any) => { last = mintId(last, Date.parse(d.at)); ids.set(ref, last); return { ...d, id: last, data: Object.fromEntries(Object.entries(data).map(([k, v]: any) => [k, ids.get(v?.$ref) ?? v])) } })
    const state = fold('s', records)
    const { text } = packContext(state, { conversation: 'next' })
    console.log(text)
    const byRef = new Map(entries.map((e: any) => [e.ref, e]))
    for (const ref of continuation.uses) { const e: any = byRef.get(ref); if (e.kind === 'request.made') console.log('NEED', JSON.stringify(e.data)) }
    console.log(JSON.stringify(explainContext(state, {}).sections.map((s) => [s.section, s.tokens, s.shown, s.count])))
    console.log(entries.length, 'requests', entries.filter((e: any) => e.kind === 'request.made').length, 'statements', state.statements.items.length)
  }
})
