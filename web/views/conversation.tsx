import { Empty } from '../parts/states.tsx'

export function ConversationView({ id }: { id: string }) {
  return <Empty title={id} />
}
