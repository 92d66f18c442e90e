import { Empty } from '../parts/states.tsx'

export function SearchView() {
  return <Empty title="Search" />
}
