// The program whose processes are killed, cut short and set against each other when Stint is measured. Nobody starts it by hand.
import { serveOrders } from '../simulate/measure/worker/serve-orders.ts'

await serveOrders(process.stdin, process.argv[2]!)
