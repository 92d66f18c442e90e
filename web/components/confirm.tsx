import { useEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'

export interface ConfirmRequest {
  readonly title: string
  readonly text: ComponentChildren
  /** The label of the confirming button. */
  readonly action: string
  readonly isDangerous?: boolean
  /** Adds a text field with this label. */
  readonly note?: string
}

interface OpenConfirm extends ConfirmRequest {
  readonly resolve: (result: { readonly note: string } | undefined) => void
}

/** The returned `dialog` must be rendered in the view. */
export function useConfirm(): {
  readonly dialog: ComponentChildren
  confirm(question: ConfirmRequest): Promise<{ readonly note: string } | undefined>
} {
  const [open, setOpen] = useState<OpenConfirm>()
  const confirm = (question: ConfirmRequest): Promise<{ readonly note: string } | undefined> =>
    new Promise((resolve) => {
      setOpen({ ...question, resolve })
    })
  const close = (result: { readonly note: string } | undefined): void => {
    open?.resolve(result)
    setOpen(undefined)
  }
  return {
    dialog: open === undefined ? null : <ConfirmDialog open={open} close={close} />,
    confirm,
  }
}

function ConfirmDialog({ open, close }: { open: OpenConfirm; close: OpenConfirm['resolve'] }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const note = useRef<HTMLTextAreaElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class="confirm"
      aria-labelledby="confirm-title"
      onClose={() => close(undefined)}
    >
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          close({ note: note.current?.value.trim() ?? '' })
        }}
      >
        <h2 id="confirm-title">{open.title}</h2>
        <div class="confirm-text">{open.text}</div>
        {open.note === undefined ? null : (
          <label class="labelled">
            <span>{open.note}</span>
            <textarea class="field" ref={note} rows={2} />
          </label>
        )}
        <div class="confirm-buttons">
          <button class="quiet-button" type="button" onClick={() => close(undefined)}>
            Not now
          </button>
          <button
            class="button"
            type="submit"
            data-tone={open.isDangerous === true ? 'bad' : 'accent'}
          >
            {open.action}
          </button>
        </div>
      </form>
    </dialog>
  )
}
