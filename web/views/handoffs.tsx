import { Empty } from '../parts/states.tsx'

export function HandoffsView() {
  return <Empty title="Handoffs" />
}
