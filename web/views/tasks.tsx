import { Empty } from '../parts/states.tsx'

export function TasksView() {
  return <Empty title="Tasks" />
}
