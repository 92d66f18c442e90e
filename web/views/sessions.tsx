import type { SessionRow } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { Progress, StatusBadge, Time } from '../components/values.tsx'
import { pluralize } from '../components/format.ts'
import { LongListHead, LongListRows, useLongList } from '../lists/long-list.tsx'
import { useMedia } from '../components/media.ts'
import { Empty } from '../components/states.tsx'
import { Text } from '../components/text.tsx'
import { PromptBox } from '../prompt/prompt-box.tsx'
import { currentProject, href, hrefTo, setQuery, useQuery } from '../data/router.ts'
import { useTypedValue } from '../shell/typed-value.ts'

const STATUSES = ['active', 'paused', 'completed', 'abandoned'] as const
const SORTS = { updated: 'Worked on last', created: 'Newest', name: 'By name' } as const
const PAUSE_MS = 400

export function SessionsView() {
  const values = useQuery()
  const [status, text, branch, sort] = ['status', 'text', 'branch', 'sort'].map(
    (name) => values.get(name) ?? '',
  ) as [string, string, string, string]
  const list = useLongList<SessionRow>({
    title: 'Sessions',
    one: 'session',
    key: [currentProject(), status, text, branch, sort].join('\n'),
    load: (offset, limit, signal) =>
      api.sessions({ status, text: asPrefix(text), branch, sort, offset, limit }, signal),
    isTouchedBy(event, pages) {
      if (event.type !== 'session') return false
      pages.replace(({ id }) => id === event.row.id, event.row)
      // Its position may have changed.
      return true
    },
    pauseMs: PAUSE_MS,
    addressOf: ({ id }) => hrefTo.session(id),
  })
  const height = useMedia('(max-width: 760px)') ? 68 : 56
  const isFiltered = status !== '' || text !== '' || branch !== ''
  return (
    <div class="view">
      <LongListHead list={list} isFiltered={isFiltered} />
      <Filters status={status} text={text} branch={branch} sort={sort} />
      <LongListRows
        list={list}
        height={height}
        isFixed
        row={(row, isSelected) => <Row row={row} isSelected={isSelected} />}
        none={<NoSessions isFiltered={isFiltered} />}
      />
      <PromptBox />
    </div>
  )
}

function NoSessions({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No session matches">
        <button
          class="button"
          type="button"
          onClick={() => setQuery({ status: '', text: '', branch: '' })}
        >
          Show all sessions
        </button>
      </Empty>
    )
  return (
    <Empty title="No sessions yet">
      Start one in this project with <code>stint init --name fix-login</code>, or let your agent
      start them by itself after <code>stint setup</code>. What was said without one is under{' '}
      <a href={href('/conversations')}>Conversations</a>.
    </Empty>
  )
}

function Row({ row, isSelected }: { row: SessionRow | undefined; isSelected: boolean }) {
  if (row === undefined)
    return (
      <div class="session-row" aria-busy="true">
        <span class="skeleton-line" />
      </div>
    )
  const heading = row.title === '' ? row.name : row.title
  return (
    <a class="session-row" href={hrefTo.session(row.id)} data-selected={isSelected}>
      <span class="session-status">
        <StatusBadge of={row.status} />
      </span>
      <span class="session-words">
        <span class="session-title">
          <Text>{heading}</Text>
          {isSameWords(heading, row.name) ? null : (
            <span class="session-name mono">
              <Text>{row.name}</Text>
            </span>
          )}
        </span>
        <span class="session-goal">
          <Text>{firstLine(row.tldr ?? row.goal)}</Text>
        </span>
      </span>
      <span class="session-branch mono">
        {row.branch === undefined ? '' : <Text>{row.branch}</Text>}
      </span>
      <span class="session-marks">
        {row.counts.openBlockers > 0 ? (
          <span class="blocked">{pluralize(row.counts.openBlockers, 'blocker')}</span>
        ) : null}
        <Progress done={row.counts.stepsDone} total={row.counts.steps} />
      </span>
      <span class="session-time">
        <Time at={row.updatedAt} />
      </span>
    </a>
  )
}

function Filters({
  status,
  text,
  branch,
  sort,
}: {
  status: string
  text: string
  branch: string
  sort: string
}) {
  return (
    <search class="filters" aria-label="Filter sessions">
      <Field name="text" label="Search sessions" value={text} isSearch />
      <div class="segments" role="group" aria-label="Status">
        {['', ...STATUSES].map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={status === name}
            onClick={() => setQuery({ status: name })}
          >
            {name === '' ? 'All' : name}
          </button>
        ))}
      </div>
      <Field name="branch" label="Branch" value={branch} />
      <select
        class="choice"
        aria-label="Order"
        value={sort === '' ? 'updated' : sort}
        onChange={({ currentTarget }) =>
          setQuery({ sort: currentTarget.value === 'updated' ? '' : currentTarget.value })
        }
      >
        {Object.entries(SORTS).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </search>
  )
}

function Field({
  name,
  label,
  value,
  isSearch = false,
}: {
  name: string
  label: string
  value: string
  isSearch?: boolean
}) {
  const [typed, setTyped] = useTypedValue(name, value)
  const shared = {
    class: 'field',
    'aria-label': label,
    placeholder: label,
    spellcheck: false,
    autocomplete: 'off',
    value: typed,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      setTyped(currentTarget.value),
  }
  return isSearch ? (
    <input type="search" {...shared} />
  ) : (
    <input type="text" size={12} {...shared} />
  )
}

/** The last word may be incomplete. */
function asPrefix(text: string): string {
  return /[\p{L}\p{N}]$/u.test(text) && !text.includes('"') ? `${text}*` : text
}

/** A title that was derived from the name adds nothing. */
function isSameWords(title: string, name: string): boolean {
  return (
    title.toLowerCase().replaceAll(/[\s_-]+/g, '-') ===
    name.toLowerCase().replaceAll(/[\s_-]+/g, '-')
  )
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]!.slice(0, 300)
}
