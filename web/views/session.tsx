import { Empty } from '../parts/states.tsx'

export function SessionView({ id }: { id: string }) {
  return <Empty title={id} />
}
