import { Empty } from '../parts/states.tsx'

export function RunView({ id }: { id: string }) {
  return <Empty title={id} />
}
