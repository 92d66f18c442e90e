import { useEffect, useRef, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'

export interface ConfirmRequest {
  readonly title: string
  readonly text: ComponentChildren
  /** What the button says that does it. */
  readonly action: string
  readonly isDangerous?: boolean
  /** Asks for a few words too, under this label. */
  readonly note?: string
}

interface Asked extends ConfirmRequest {
  readonly answer: (given: { readonly note: string } | undefined) => void
}

/** Asks before something is done. What is shown has to stand somewhere in the view. */
export function useConfirm(): {
  readonly dialog: ComponentChildren
  confirm(question: ConfirmRequest): Promise<{ readonly note: string } | undefined>
} {
  const [asked, setAsked] = useState<Asked>()
  const confirm = (question: ConfirmRequest): Promise<{ readonly note: string } | undefined> =>
    new Promise((answer) => {
      setAsked({ ...question, answer })
    })
  const settle = (given: { readonly note: string } | undefined): void => {
    asked?.answer(given)
    setAsked(undefined)
  }
  return {
    dialog: asked === undefined ? null : <ConfirmDialog asked={asked} settle={settle} />,
    confirm,
  }
}

function ConfirmDialog({ asked, settle }: { asked: Asked; settle: Asked['answer'] }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const note = useRef<HTMLTextAreaElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class="confirm"
      aria-labelledby="confirm-title"
      onClose={() => settle(undefined)}
    >
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          settle({ note: note.current?.value.trim() ?? '' })
        }}
      >
        <h2 id="confirm-title">{asked.title}</h2>
        <div class="confirm-text">{asked.text}</div>
        {asked.note === undefined ? null : (
          <label class="labelled">
            <span>{asked.note}</span>
            <textarea class="field" ref={note} rows={2} />
          </label>
        )}
        <div class="confirm-buttons">
          <button class="quiet-button" type="button" onClick={() => settle(undefined)}>
            Not now
          </button>
          <button
            class="button"
            type="submit"
            data-tone={asked.isDangerous === true ? 'bad' : 'accent'}
          >
            {asked.action}
          </button>
        </div>
      </form>
    </dialog>
  )
}
