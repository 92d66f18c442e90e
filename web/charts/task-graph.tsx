import type { RunTaskRow } from '../../src/serve/contract.ts'
import { Text } from '../components/text.tsx'
import { layOutGraph, pathThrough } from './graph-layout.ts'

const SIZE = { width: 190, height: 46 }
const EDGE = 8

export const GLYPHS: Readonly<Record<string, string>> = {
  done: '✓',
  running: '▸',
  open: '○',
  parked: '✗',
  failed: '✗',
  blocked: '⊘',
}

export function TaskGraphChart({
  tasks,
  chosen,
}: {
  tasks: readonly RunTaskRow[]
  chosen: string | undefined
}) {
  const {
    width,
    height,
    tasks: placed,
    edges,
  } = layOutGraph(
    tasks.map(({ task, after }) => ({ id: task.id, after })),
    SIZE,
  )
  const byId = new Map(tasks.map((runTask) => [runTask.task.id, runTask]))
  const isDone = (id: string): boolean => byId.get(id)?.outcome === 'done'
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Tasks and what they wait for">
      <div
        class="graph-sheet"
        style={{ width: `${width + EDGE * 2}px`, height: `${height + EDGE * 2}px` }}
      >
        <svg
          class="graph-lines"
          width={width + EDGE * 2}
          height={height + EDGE * 2}
          aria-hidden="true"
        >
          <g transform={`translate(${EDGE} ${EDGE})`}>
            {edges.map(({ from, to, points, isCircular }) => (
              <path
                key={`${from} ${to}`}
                d={pathThrough(points)}
                class="graph-line"
                data-kind={isCircular ? 'circular' : isDone(from) ? 'done' : 'open'}
                data-chosen={chosen === from || chosen === to}
              />
            ))}
          </g>
        </svg>
        <ul>
          {placed.map(({ id, x, y }) => {
            const runTask = byId.get(id)
            return runTask === undefined ? null : (
              <li
                key={id}
                style={{
                  left: `${x + EDGE}px`,
                  top: `${y + EDGE}px`,
                  width: `${SIZE.width}px`,
                  height: `${SIZE.height}px`,
                }}
              >
                <TaskBox runTask={runTask} isChosen={chosen === id} names={byId} />
              </li>
            )
          })}
        </ul>
      </div>
    </div>
  )
}

function TaskBox({
  runTask,
  isChosen,
  names,
}: {
  runTask: RunTaskRow
  isChosen: boolean
  names: ReadonlyMap<string, RunTaskRow>
}) {
  const { task, outcome, reason, after } = runTask
  const waits = after.flatMap((id) => names.get(id)?.task.name ?? [])
  return (
    <a
      class="graph-task"
      href={`#task-${task.id}`}
      data-outcome={outcome}
      aria-current={isChosen ? 'true' : undefined}
      title={[task.title, outcome, ...(reason === undefined ? [] : [reason])].join('\n')}
    >
      <span class="graph-glyph" aria-hidden="true">
        {GLYPHS[outcome]}
      </span>
      <span class="graph-name">
        <Text>{task.title}</Text>
      </span>
      <span class="graph-outcome">
        {outcome}
        {waits.length === 0 ? null : <span class="unseen-text">, after {waits.join(', ')}</span>}
      </span>
    </a>
  )
}
