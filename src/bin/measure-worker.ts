// The program whose processes are killed, cut short and set against each other when Stint is measured. Nobody starts it by hand.
import { serveOrders } from '../cli/study/measure/worker/serve-orders.ts'

const [, , library, parent] = process.argv as [string, string, string, string]
await serveOrders(process.stdin, { library, parent: Number(parent) })
