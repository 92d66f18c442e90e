import type { PublicTask } from '../../../src/serve/contract.ts'
import { useAction } from '../../data/action.ts'
import { api } from '../../data/api.ts'
import { Badge } from '../../parts/badge.tsx'
import { amount } from '../../parts/format.ts'
import { ProblemLine } from '../../parts/problem-line.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'

const STATUSES: readonly { readonly status: PublicTask['status']; readonly word: string }[] = [
  { status: 'ready', word: 'ready' },
  { status: 'in_progress', word: 'in progress' },
  { status: 'blocked', word: 'blocked' },
  { status: 'failed', word: 'failed' },
  { status: 'completed', word: 'completed' },
]

export function TaskLine({
  task,
  names,
  changed,
}: {
  task: PublicTask
  names: ReadonlyMap<string, PublicTask>
  changed: () => void
}) {
  const { isBusy, failure, run } = useAction()
  const waits = task.dependsOn.filter((id) => names.get(id)?.status !== 'completed')
  const move = async (status: PublicTask['status']): Promise<void> => {
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
        onChange={({ currentTarget }) => void move(currentTarget.value as PublicTask['status'])}
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

function TaskDetails({ task }: { task: PublicTask }) {
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
        {task.verify === undefined ? null : (
          <>
            , verified by <code>{task.verify}</code>
          </>
        )}
        {task.blocks.length === 0 ? '' : `, ${amount(task.blocks.length, 'other')} after it`},
        changed <Time at={task.updatedAt} />
      </p>
    </div>
  )
}
