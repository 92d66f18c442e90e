import { useState } from 'preact/hooks'
import type { Priority, PageTask, Size } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Empty, Loaded } from '../components/states.tsx'
import { setQuery, useQuery } from '../data/router.ts'
import { type TaskNode, buildTaskTree } from './tasks/task-tree.ts'
import { useAction } from '../data/action.ts'
import { ProblemLine } from '../components/problem-line.tsx'
import { Badge, Time } from '../components/values.tsx'
import { pluralize } from '../components/format.ts'
import { Text } from '../components/text.tsx'

export function TasksView() {
  const tasks = useResource('tasks', api.tasks, (event) => event.type === 'tasks')
  const values = useQuery()
  const isAll = values.get('all') === '1'
  const text = values.get('text') ?? ''
  const [isAdding, setAdding] = useState(false)
  const open = tasks.value?.filter(({ status }) => status !== 'completed').length
  return (
    <div class="view">
      <header class="view-head">
        <h1>Tasks</h1>
        {tasks.value === undefined ? null : (
          <span class="aside">
            {open} open of {tasks.value.length}
          </span>
        )}
        <button
          class="button button-small"
          type="button"
          data-tone="accent"
          aria-expanded={isAdding}
          onClick={() => setAdding(!isAdding)}
        >
          Add a task
        </button>
      </header>
      {isAdding ? (
        <AddTask tasks={tasks.value ?? []} added={tasks.reload} close={() => setAdding(false)} />
      ) : null}
      <div class="filters">
        <input
          class="field"
          type="search"
          placeholder="Filter"
          aria-label="Filter the tasks"
          value={text}
          onInput={({ currentTarget }) => setQuery({ text: currentTarget.value })}
        />
        <div class="segments" role="group" aria-label="Which tasks">
          <button type="button" aria-pressed={!isAll} onClick={() => setQuery({ all: undefined })}>
            Open
          </button>
          <button type="button" aria-pressed={isAll} onClick={() => setQuery({ all: '1' })}>
            All
          </button>
        </div>
      </div>
      <div class="view-body">
        <Loaded resource={tasks}>
          {(all) =>
            all.length === 0 ? (
              <Empty title="The backlog is empty">
                Add a task here or with <code>stint task add "What is to be done"</code>;{' '}
                <code>stint run</code> works through them.
              </Empty>
            ) : (
              <TaskList all={all} isAll={isAll} text={text} changed={tasks.reload} />
            )
          }
        </Loaded>
      </div>
    </div>
  )
}

interface ListProps {
  readonly all: readonly PageTask[]
  readonly isAll: boolean
  readonly text: string
  readonly changed: () => void
}

function TaskList({ all, isAll, text, changed }: ListProps) {
  const nodes = buildTaskTree(all, { isAll, text })
  const names = new Map(all.map((task) => [task.id, task]))
  if (nodes.length === 0)
    return <Empty title={text === '' ? 'All tasks are done' : 'No task has that in it'} />
  return <Branch nodes={nodes} names={names} changed={changed} />
}

interface BranchProps {
  readonly nodes: readonly TaskNode[]
  readonly names: ReadonlyMap<string, PageTask>
  readonly changed: () => void
}

function Branch({ nodes, names, changed }: BranchProps) {
  return (
    <ul class="task-list">
      {nodes.map(({ task, children }) => (
        <li key={task.id}>
          <TaskLine task={task} names={names} changed={changed} />
          {children.length === 0 ? null : (
            <Branch nodes={children} names={names} changed={changed} />
          )}
        </li>
      ))}
    </ul>
  )
}

function AddTask({
  tasks,
  added,
  close,
}: {
  tasks: readonly PageTask[]
  added: () => void
  close: () => void
}) {
  const [title, setTitle] = useState('')
  const [priority, setPriority] = useState<Priority>('P2')
  const [size, setSize] = useState<Size>('M')
  const [parent, setParent] = useState('')
  const { isBusy, failure, run } = useAction()
  const add = async (): Promise<void> => {
    const task = await run(() =>
      api.addTask({ title: title.trim(), priority, size, ...(parent === '' ? {} : { parent }) }),
    )
    if (task === undefined) return
    setTitle('')
    added()
  }
  return (
    <form
      class="add-task"
      onSubmit={(event) => {
        event.preventDefault()
        if (title.trim() !== '') void add()
      }}
    >
      <input
        class="field add-title"
        aria-label="What is to be done"
        placeholder="What is to be done"
        value={title}
        ref={(element) => {
          if (element !== null && document.activeElement === document.body) element.focus()
        }}
        onInput={({ currentTarget }) => setTitle(currentTarget.value)}
      />
      <select
        class="choice"
        aria-label="Priority"
        value={priority}
        onChange={({ currentTarget }) => setPriority(currentTarget.value as Priority)}
      >
        {(['P0', 'P1', 'P2', 'P3'] as const).map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <select
        class="choice"
        aria-label="Size"
        value={size}
        onChange={({ currentTarget }) => setSize(currentTarget.value as Size)}
      >
        {(['XS', 'S', 'M', 'L', 'XL'] as const).map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <select
        class="choice add-parent"
        aria-label="Part of"
        value={parent}
        onChange={({ currentTarget }) => setParent(currentTarget.value)}
      >
        <option value="">Part of nothing</option>
        {tasks
          .filter(({ status }) => status !== 'completed')
          .map((task) => (
            <option key={task.id} value={task.id}>
              Part of {task.title}
            </option>
          ))}
      </select>
      <button
        class="button"
        type="submit"
        data-tone="accent"
        disabled={isBusy || title.trim() === ''}
      >
        Add
      </button>
      <button class="quiet-button" type="button" onClick={close}>
        Close
      </button>
      <ProblemLine failure={failure} />
    </form>
  )
}

const STATUSES: readonly { readonly status: PageTask['status']; readonly word: string }[] = [
  { status: 'ready', word: 'ready' },
  { status: 'in_progress', word: 'in progress' },
  { status: 'blocked', word: 'blocked' },
  { status: 'failed', word: 'failed' },
  { status: 'completed', word: 'completed' },
]

function TaskLine({
  task,
  names,
  changed,
}: {
  task: PageTask
  names: ReadonlyMap<string, PageTask>
  changed: () => void
}) {
  const { isBusy, failure, run } = useAction()
  const waits = task.dependsOn.filter((id) => names.get(id)?.status !== 'completed')
  const move = async (status: PageTask['status']): Promise<void> => {
    await run(() => api.moveTask(task.id, status))
    changed()
  }
  return (
    <div class="task" data-status={task.status}>
      <select
        class="task-status"
        aria-label={`Status of ${task.title}`}
        value={task.status}
        data-status={task.status}
        disabled={isBusy}
        onChange={({ currentTarget }) => void move(currentTarget.value as PageTask['status'])}
      >
        {STATUSES.map(({ status, word }) => (
          <option key={status} value={status}>
            {word}
          </option>
        ))}
      </select>
      <div class="task-words">
        <details>
          <summary>
            <span class="task-title">
              <Text>{task.title}</Text>
            </span>
            {task.checklist.length === 0 ? null : (
              <span class="muted small number">
                {task.checklist.filter(({ done }) => done).length}/{task.checklist.length}
              </span>
            )}
            {waits.length === 0 ? null : (
              <span class="small muted task-waits">
                after <Text>{waits.map((id) => names.get(id)?.name ?? id).join(', ')}</Text>
              </span>
            )}
          </summary>
          <TaskDetails task={task} />
        </details>
        <ProblemLine failure={failure} />
      </div>
      <div class="task-tags">
        {task.labels.map((label) => (
          <Badge key={label}>
            <Text>{label}</Text>
          </Badge>
        ))}
        {task.group === undefined ? null : (
          <Badge>
            <Text>{`group ${task.group}`}</Text>
          </Badge>
        )}
        <Badge tone={task.priority === 'P0' ? 'bad' : task.priority === 'P1' ? 'warn' : 'plain'}>
          {task.priority}
        </Badge>
        <Badge>{task.size}</Badge>
      </div>
    </div>
  )
}

function TaskDetails({ task }: { task: PageTask }) {
  return (
    <div class="task-details small">
      {task.description === '' ? null : (
        <p>
          <Text>{task.description}</Text>
        </p>
      )}
      {task.details === '' ? null : (
        <p class="plain-lines">
          <Text>{task.details}</Text>
        </p>
      )}
      {task.checklist.length === 0 ? null : (
        <ul>
          {task.checklist.map(({ item, done }, index) => (
            <li key={index}>
              <span aria-hidden="true">{done ? '☑' : '☐'}</span>
              <span class="unseen-text">{done ? 'done: ' : 'to do: '}</span> <Text>{item}</Text>
            </li>
          ))}
        </ul>
      )}
      {task.summary === undefined ? null : (
        <p>
          Said last: <Text>{task.summary}</Text>
        </p>
      )}
      <p class="muted">
        <code>{task.name}</code>
        {task.assignee === undefined ? '' : `, for ${task.assignee}`}
        {task.isFromElsewhere === true ? (
          <>
            , from elsewhere: not run before you agree with <code>stint trust</code>
          </>
        ) : null}
        {task.verify === undefined ? null : (
          <>
            , verified by <code>{task.verify}</code>
            {task.needsTrust === true ? (
              <>
                , which is not run before you agree with <code>stint trust</code>
              </>
            ) : null}
          </>
        )}
        {task.blocks.length === 0 ? '' : `, ${pluralize(task.blocks.length, 'other')} after it`},
        changed <Time at={task.updatedAt} />
      </p>
    </div>
  )
}
