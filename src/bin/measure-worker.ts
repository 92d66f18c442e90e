// The program whose processes are killed, cut short and set against each other when Stint is measured. Started by `stint simulate --measure` only.
import { load } from './stint.ts'

const [, , library, parent] = process.argv as [string, string, string, string]
void load('simulate')
  .measuring()
  .then(({ serveOrders }) => serveOrders(process.stdin, { library, parent: Number(parent) }))
