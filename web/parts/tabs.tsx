import { setValues } from '../data/router.ts'

export interface Tab<Name extends string> {
  readonly name: Name
  readonly label: string
  readonly count?: number
}

/** Which part of a view is shown, kept in the address under `tab`. */
export function Tabs<Name extends string>({
  label,
  tabs,
  chosen,
}: {
  label: string
  tabs: readonly Tab<Name>[]
  chosen: Name
}) {
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = tabs.findIndex(({ name }) => name === chosen)
    const next = tabs[(at + step + tabs.length) % tabs.length]!
    setValues({ tab: next.name })
    document.getElementById(`tab-${next.name}`)?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(({ name, label: text, count }) => (
        <button
          key={name}
          id={`tab-${name}`}
          role="tab"
          type="button"
          aria-selected={name === chosen}
          aria-controls="tab-panel"
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => setValues({ tab: name })}
        >
          {text}
          {count === undefined ? null : <span class="tab-count">{count}</span>}
        </button>
      ))}
    </div>
  )
}
