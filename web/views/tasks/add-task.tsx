import { useState } from 'preact/hooks'
import type { Priority, PublicTask, Size } from '../../../src/serve/contract.ts'
import { useAction } from '../../data/action.ts'
import { api } from '../../data/api.ts'
import { ProblemLine } from '../../parts/problem-line.tsx'

export function AddTask({
  tasks,
  added,
  close,
}: {
  tasks: readonly PublicTask[]
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
