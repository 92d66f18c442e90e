import type { ComponentChildren } from 'preact'

/** A few figures with their names, side by side. */
export function Figures({
  of,
}: {
  of: readonly { readonly name: string; readonly value: ComponentChildren }[]
}) {
  return (
    <dl class="figures">
      {of.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
