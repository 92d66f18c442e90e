import { Empty } from '../parts/states.tsx'

export function DelegatesView() {
  return <Empty title="Delegates" />
}
