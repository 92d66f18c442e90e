import { useEffect, useRef } from 'preact/hooks'
import { useStore } from '../data/store.ts'
import { isHelpOpen, shortcutGroups } from './keyboard.ts'

export function ShortcutHelp() {
  const isOpen = useStore(isHelpOpen)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => isHelpOpen.set(false)}
    >
      <div class="help-head">
        <h2 id="help-title">Keyboard</h2>
        <form method="dialog">
          <button class="quiet-button">Close</button>
        </form>
      </div>
      {isOpen
        ? shortcutGroups().map(({ title, shortcuts }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl class="shortcuts">
                {shortcuts.map(({ keys, what }) => (
                  <div key={keys}>
                    <dt>
                      {keys.split(' ').map((key) => (
                        <kbd key={key}>{key}</kbd>
                      ))}
                    </dt>
                    <dd>{what}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))
        : null}
    </dialog>
  )
}
