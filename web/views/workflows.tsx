import { Empty } from '../parts/states.tsx'

export function WorkflowsView() {
  return <Empty title="Workflows" />
}
