import { Empty } from '../parts/states.tsx'

export function UsageView() {
  return <Empty title="Usage" />
}
