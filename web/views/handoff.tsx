import { Empty } from '../parts/states.tsx'

export function HandoffView({ id }: { id: string }) {
  return <Empty title={id} />
}
