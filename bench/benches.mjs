// Every benchmark there is, in the order in which they run and are shown. `<name>.bench.mjs` exports `run({ scale, say })`, which
// answers its rows, and `columns` where the usual names of columns do not fit:
//   { name, ours, bare, unit, ratio, limit, note, ok, instead }
// `ours` and `bare` are milliseconds unless `unit` says otherwise; `note` stands where there is no `ours`; `instead` stands in the
// last column in the place of "ok".

export const BENCHES = {
  journal:
    'what durability costs over the bare system calls, and what a long journal costs to open',
  hooks: 'what a hook costs over starting Node at all, and what it puts before a model',
  loading: 'what a command costs before it does anything',
  index: 'lists and searches at 100,000 sessions, against the bare SQL',
  import: 'importing histories, against parsing the same lines',
  project: 'what it takes to find out what a large repository is, against listing its files',
  plan: 'what the planner spends, against the least possible and against simpler rules',
  savings: 'the savings that were claimed, beside what is counted',
  simulate: 'the study of what a session layer costs, against as many bare draws',
  serve: "the page's server at 100,000 sessions, against the bare questions",
}

export function fileOf(name) {
  return new URL(`./${name}.bench.mjs`, import.meta.url)
}
