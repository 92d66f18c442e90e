import { useState } from 'preact/hooks'
import type { PublicTask } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Empty, Loaded } from '../parts/states.tsx'
import { setValues, useValues } from '../data/router.ts'
import { AddTask } from './tasks/add-task.tsx'
import { TaskLine } from './tasks/task-line.tsx'
import { type TaskNode, taskTree } from './tasks/task-tree.ts'

export function TasksView() {
  const tasks = useResource('tasks', api.tasks, (event) => event.type === 'tasks')
  const values = useValues()
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
          onInput={({ currentTarget }) => setValues({ text: currentTarget.value })}
        />
        <div class="segments" role="group" aria-label="Which tasks">
          <button type="button" aria-pressed={!isAll} onClick={() => setValues({ all: undefined })}>
            Open
          </button>
          <button type="button" aria-pressed={isAll} onClick={() => setValues({ all: '1' })}>
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
  readonly all: readonly PublicTask[]
  readonly isAll: boolean
  readonly text: string
  readonly changed: () => void
}

function TaskList({ all, isAll, text, changed }: ListProps) {
  const nodes = taskTree(all, { isAll, text })
  const names = new Map(all.map((task) => [task.id, task]))
  if (nodes.length === 0)
    return <Empty title={text === '' ? 'All tasks are done' : 'No task has that in it'} />
  return <Branch nodes={nodes} names={names} changed={changed} />
}

interface BranchProps {
  readonly nodes: readonly TaskNode[]
  readonly names: ReadonlyMap<string, PublicTask>
  readonly changed: () => void
}

function Branch({ nodes, names, changed }: BranchProps) {
  return (
    <ul class="task-list">
      {nodes.map(({ task, parts }) => (
        <li key={task.id}>
          <TaskLine task={task} names={names} changed={changed} />
          {parts.length === 0 ? null : <Branch nodes={parts} names={names} changed={changed} />}
        </li>
      ))}
    </ul>
  )
}
