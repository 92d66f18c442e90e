import { useEffect, useRef, useState } from 'preact/hooks'
import type { HarnessRow, PromptRequest } from '../../src/serve/contract.ts'
import { useAction } from '../data/action.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { ProblemLine } from '../components/problem-line.tsx'
import { WithCode } from '../components/text.tsx'
import { useShortcuts } from '../shell/keyboard.ts'
import { PromptAnswer } from './prompt-answer.tsx'
import {
  type SavedPrompt,
  loadPromptDefaults,
  savePrompt,
  savePromptDefaults,
  savedPrompt,
} from './saved-prompt.ts'

type Permissions = NonNullable<PromptRequest['permissions']>
type PromptTarget = 'on' | 'fresh' | 'new'

const PERMISSIONS: readonly { readonly value: Permissions; readonly name: string }[] = [
  { value: 'ask', name: 'Ask me each time' },
  { value: 'edits', name: 'Allow edits' },
  { value: 'all', name: 'Allow everything' },
]

/** Sends a prompt in the given session or in a new one. */
export function PromptBox({ session }: { session?: string }) {
  const [saved, setSaved] = useState<SavedPrompt | undefined>(() => savedPrompt(session))
  const running = useRunningPrompt(session)
  // A prompt sent elsewhere is followed here too; a second one would be refused meanwhile.
  const [dismissed, setDismissed] = useState<string>()
  const shown =
    running !== undefined && running.prompt !== saved?.prompt && running.prompt !== dismissed
      ? running
      : saved
  const [isRunning, setRunning] = useState(false)
  useEffect(() => setSaved(savedPrompt(session)), [session])
  const save = (now: SavedPrompt | undefined): void => {
    savePrompt(session, now)
    // So that the page of that session finds it too.
    if (now !== undefined && now.session !== session) savePrompt(now.session, now)
    setSaved(now)
    if (now !== undefined) return
    setDismissed(shown?.prompt)
    setRunning(false)
  }
  return (
    <section class="prompt-box" aria-label="Ask an agent">
      {shown === undefined ? null : (
        <>
          <PromptAnswer key={shown.prompt} saved={shown} isRunning={setRunning} />
          {isRunning ? null : (
            <button class="quiet-button prompt-close" type="button" onClick={() => save(undefined)}>
              Put the answer away
            </button>
          )}
        </>
      )}
      <Composer session={session} isRunning={isRunning} started={save} />
    </section>
  )
}

/** The prompt that is running in a session, from any page. It stays after it ended, until it is dismissed. */
function useRunningPrompt(session: string | undefined): SavedPrompt | undefined {
  const running = useResource(
    `running ${session ?? ''}`,
    async (signal) => (session === undefined ? [] : api.runningPrompts(session, signal)),
    (event) =>
      event.type === 'prompt' &&
      event.event.kind === 'prompt.started' &&
      event.event.data.session === session,
  )
  return running.value?.at(-1)
}

interface ComposerProps {
  readonly session: string | undefined
  readonly isRunning: boolean
  readonly started: (saved: SavedPrompt) => void
}

function Composer({ session, isRunning, started }: ComposerProps) {
  const overview = useResource('prompt overview', api.overview)
  const harnesses = overview.value?.harnesses ?? []
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(() => loadPromptDefaults().harness ?? '')
  const [permissions, setPermissions] = useState<Permissions>(() =>
    readPermissions(loadPromptDefaults().permissions),
  )
  const [target, setTarget] = useState<PromptTarget>(session === undefined ? 'new' : 'on')
  const [model, setModel] = useState('')
  const [isExpanded, setExpanded] = useState(false)
  const { isBusy, failure, run } = useAction()
  const field = useRef<HTMLTextAreaElement>(null)
  useShortcuts('Prompt', [
    { keys: 'p', label: 'Write a prompt', run: () => field.current?.focus() },
  ])
  const harness = harnessFor(chosen, harnesses)
  const canAsk = text.trim() !== '' && !isRunning && !isBusy
  const send = async (): Promise<void> => {
    if (!canAsk) return
    const request: PromptRequest = {
      text: text.trim(),
      permissions,
      ...(session === undefined || target === 'new' ? {} : { session }),
      ...(target === 'new' ? { isNew: true } : {}),
      ...(target === 'fresh' ? { isFresh: true } : {}),
      ...(harness === undefined ? {} : { harness: harness.name }),
      ...(model.trim() === '' ? {} : { model: model.trim() }),
    }
    const answer = await run(() => api.startPrompt(request))
    if (answer === undefined) return
    // "Allow everything" must be chosen again each time the page is opened.
    savePromptDefaults({
      ...(harness === undefined ? {} : { harness: harness.name }),
      ...(permissions === 'all' ? {} : { permissions }),
    })
    setText('')
    started({ ...answer, text: request.text })
  }
  return (
    <form
      class="composer"
      data-running={isRunning}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        ref={field}
        class="composer-text"
        rows={Math.min(10, Math.max(2, text.split('\n').length))}
        aria-label="Prompt"
        placeholder={
          session === undefined ? 'Ask an agent to begin something' : 'Ask an agent to go on'
        }
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || event.isComposing)
            return
          event.preventDefault()
          void send()
        }}
      />
      <div class="composer-foot">
        <select
          class="choice"
          aria-label="Where"
          value={target}
          onChange={({ currentTarget }) => setTarget(currentTarget.value as PromptTarget)}
        >
          {session === undefined ? (
            <option value="on">The active session</option>
          ) : (
            <>
              <option value="on">This session</option>
              <option value="fresh">This session, afresh</option>
            </>
          )}
          <option value="new">A new session</option>
        </select>
        <select
          class="choice"
          aria-label="Harness"
          value={harness?.name ?? ''}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        >
          {harness === undefined ? <option value="">No harness is there</option> : null}
          {harnesses.map(({ name, isThere, problem }) => (
            <option key={name} value={name} disabled={!isThere} title={problem}>
              {name}
              {isThere ? '' : ' (not there)'}
            </option>
          ))}
        </select>
        <select
          class="choice"
          aria-label="Permissions"
          value={permissions}
          onChange={({ currentTarget }) => setPermissions(currentTarget.value as Permissions)}
        >
          {PERMISSIONS.filter(({ value }) => overview.value?.permissions.includes(value)).map(
            ({ value, name }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ),
          )}
        </select>
        <button
          class="quiet-button"
          type="button"
          aria-expanded={isExpanded}
          onClick={() => setExpanded(!isExpanded)}
        >
          More
        </button>
        <button
          class="button composer-send"
          type="submit"
          data-tone="accent"
          disabled={!canAsk}
          title="Ctrl+Enter"
        >
          {isBusy ? 'Sending…' : 'Send'}
        </button>
      </div>
      <div class="composer-more" hidden={!isExpanded}>
        <input
          class="field composer-model"
          aria-label="Model"
          placeholder="Model, as the harness calls it"
          value={model}
          onInput={({ currentTarget }) => setModel(currentTarget.value)}
        />
      </div>
      {overview.value?.needsTrust === true ? (
        <p class="muted">
          <WithCode text="This project has settings or journals that you have not agreed to. `stint trust` in a terminal shows them and asks." />
        </p>
      ) : null}
      <ProblemLine failure={failure ?? overview.failure} />
    </form>
  )
}

function harnessFor(chosen: string, harnesses: readonly HarnessRow[]): HarnessRow | undefined {
  const available = harnesses.filter(({ isThere }) => isThere)
  // The scripted harness is always available, so it is only the last choice.
  return (
    available.find(({ name }) => name === chosen) ??
    available.find(({ isScripted }) => isScripted !== true) ??
    available[0]
  )
}

function readPermissions(saved: string | undefined): Permissions {
  return PERMISSIONS.find(({ value }) => value === saved)?.value ?? 'ask'
}
