import { Empty } from '../parts/states.tsx'

export function SessionsView() {
  return <Empty title="Sessions" />
}
