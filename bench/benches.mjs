// All benchmarks, in the order in which they run and are shown. `<name>.bench.mjs` exports `run({
// scale, say })`, which returns rows of { name, ours, bare, unit, ratio, limit, note, ok, instead
// }, and `columns` if the default column names do not fit. `ours` and `bare` are milliseconds
// unless `unit` says otherwise; `note` is shown without `ours`; `instead` replaces "ok" in the last
// column.

export const BENCHES = {
  journal:
    'what durability costs over the bare system calls, and what a long journal costs to open',
  hooks: 'what a hook costs over starting Node at all, and what it puts before a model',
  loading: 'what a command costs before it does anything',
  index: 'lists and searches at 100,000 sessions, against the bare SQL',
  import: 'importing histories, against parsing the same lines',
  project: 'what it takes to find out what a large repository is, against listing its files',
  packing: 'what is injected of a long session, against the newest entries that fit',
  plan: 'what the planner spends, against the least possible and against simpler rules',
  savings: 'the savings that were claimed, beside what is counted',
  simulate: 'the study of what a session layer costs, against as many bare draws',
  serve: "the page's server at 100,000 sessions, against the bare questions",
}

export function fileOf(name) {
  return new URL(`./${name}.bench.mjs`, import.meta.url)
}
