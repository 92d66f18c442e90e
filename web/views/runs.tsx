import { Empty } from '../parts/states.tsx'

export function RunsView() {
  return <Empty title="Runs" />
}
