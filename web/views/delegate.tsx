import { Empty } from '../parts/states.tsx'

export function DelegateView({ id }: { id: string }) {
  return <Empty title={id} />
}
