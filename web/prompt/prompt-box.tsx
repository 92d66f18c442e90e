import { useEffect, useRef, useState } from 'preact/hooks'
import type { HarnessRow, PromptRequest } from '../../src/serve/contract.ts'
import { useAction } from '../data/action.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { ProblemLine } from '../components/problem-line.tsx'
import { useShortcuts } from '../shell/keyboard.ts'
import { PromptAnswer } from './prompt-answer.tsx'
import {
  type SavedPrompt,
  loadPromptDefaults,
  savePromptDefaults,
  savePrompt,
  savedPrompt,
} from './saved-prompt.ts'

type Permissions = NonNullable<PromptRequest['permissions']>
type Where = 'on' | 'fresh' | 'new'

/** One that is slow to say whether it is there. */
const ASK_AGAIN_MS = 1500

const PERMISSIONS: readonly { readonly value: Permissions; readonly name: string }[] = [
  { value: 'ask', name: 'Ask me each time' },
  { value: 'edits', name: 'Allow edits' },
  { value: 'all', name: 'Allow everything' },
]

/** Asks an agent, in the session that is given or in a new one. Stands at the foot of a session and above the sessions. */
export function PromptBox({ session }: { session?: string }) {
  const [kept, setKept] = useState<SavedPrompt | undefined>(() => savedPrompt(session))
  const others = useOthersPrompt(session)
  // What somebody asks elsewhere is followed here too; a second prompt would be refused meanwhile.
  const [away, setAway] = useState<string>()
  const asked =
    others !== undefined && others.prompt !== kept?.prompt && others.prompt !== away ? others : kept
  const [isRunning, setRunning] = useState(false)
  useEffect(() => setKept(savedPrompt(session)), [session])
  const keep = (now: SavedPrompt | undefined): void => {
    savePrompt(session, now)
    // So that it is found there too, once somebody goes on to it.
    if (now !== undefined && now.session !== session) savePrompt(now.session, now)
    setKept(now)
    if (now !== undefined) return
    setAway(asked?.prompt)
    setRunning(false)
  }
  return (
    <section class="prompt-box" aria-label="Ask an agent">
      {asked === undefined ? null : (
        <>
          <PromptAnswer key={asked.prompt} asked={asked} isRunning={setRunning} />
          {isRunning ? null : (
            <button class="quiet-button prompt-close" type="button" onClick={() => keep(undefined)}>
              Put the answer away
            </button>
          )}
        </>
      )}
      <Composer session={session} isRunning={isRunning} started={keep} />
    </section>
  )
}

/** The one that is being answered in a session, whoever asked. It stays when it is over, until it is put away. */
function useOthersPrompt(session: string | undefined): SavedPrompt | undefined {
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
  readonly started: (kept: SavedPrompt) => void
}

function Composer({ session, isRunning, started }: ComposerProps) {
  const overview = useResource('prompt overview', api.overview)
  const harnesses = overview.value?.harnesses ?? []
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(() => loadPromptDefaults().harness ?? '')
  const [permissions, setPermissions] = useState<Permissions>(() =>
    readPermissions(loadPromptDefaults().permissions),
  )
  const [where, setWhere] = useState<Where>(session === undefined ? 'new' : 'on')
  const [model, setModel] = useState('')
  const [script, setScript] = useState('')
  const [isMore, setMore] = useState(false)
  const { isBusy, failure, run } = useAction()
  const field = useRef<HTMLTextAreaElement>(null)
  useShortcuts('Prompt', [
    { keys: 'p', label: 'Write a prompt', run: () => field.current?.focus() },
  ])
  const isPending = harnesses.some((line) => line.isPending)
  useEffect(() => {
    if (!isPending) return undefined
    const again = setTimeout(overview.reload, ASK_AGAIN_MS)
    return () => clearTimeout(again)
  }, [overview.value])
  const harness = harnessFor(chosen, harnesses)
  const canAsk = text.trim() !== '' && !isRunning && !isBusy
  const send = async (): Promise<void> => {
    if (!canAsk) return
    const request: PromptRequest = {
      text: text.trim(),
      permissions,
      ...(session === undefined || where === 'new' ? {} : { session }),
      ...(where === 'new' ? { isNew: true } : {}),
      ...(where === 'fresh' ? { isFresh: true } : {}),
      ...(harness === undefined ? {} : { harness: harness.name }),
      ...(model.trim() === '' ? {} : { model: model.trim() }),
      ...(harness?.isScripted === true && script.trim() !== '' ? { script: script.trim() } : {}),
    }
    const answer = await run(() => api.startPrompt(request))
    if (answer === undefined) return
    // To allow everything is decided anew each time the page is opened.
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
          value={where}
          onChange={({ currentTarget }) => setWhere(currentTarget.value as Where)}
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
          {harness === undefined ? (
            <option value="">{isPending ? 'Asking the harnesses' : 'No harness is there'}</option>
          ) : null}
          {harnesses.map(({ name, isThere, isPending: isAsked, version, problem }) => (
            <option key={name} value={name} disabled={!isThere} title={isThere ? version : problem}>
              {name}
              {isThere ? '' : isAsked ? ' (asked)' : ' (not there)'}
            </option>
          ))}
        </select>
        <select
          class="choice"
          aria-label="Permissions"
          value={permissions}
          onChange={({ currentTarget }) => setPermissions(currentTarget.value as Permissions)}
        >
          {PERMISSIONS.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        <button
          class="quiet-button"
          type="button"
          aria-expanded={isMore}
          onClick={() => setMore(!isMore)}
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
      <div class="composer-more" hidden={!isMore}>
        <input
          class="field composer-model"
          aria-label="Model"
          placeholder="Model, as the harness calls it"
          value={model}
          onInput={({ currentTarget }) => setModel(currentTarget.value)}
        />
        {harness?.isScripted === true ? (
          <input
            class="field composer-model"
            aria-label="Script"
            placeholder="Script of the rehearsal"
            value={script}
            onInput={({ currentTarget }) => setScript(currentTarget.value)}
          />
        ) : null}
      </div>
      <ProblemLine failure={failure ?? overview.failure} />
    </form>
  )
}

function harnessFor(chosen: string, harnesses: readonly HarnessRow[]): HarnessRow | undefined {
  const there = harnesses.filter(({ isThere }) => isThere)
  // The rehearsal is always there, and nobody's agent.
  return (
    there.find(({ name }) => name === chosen) ??
    there.find(({ isScripted }) => isScripted !== true) ??
    there[0]
  )
}

function readPermissions(kept: string | undefined): Permissions {
  return PERMISSIONS.find(({ value }) => value === kept)?.value ?? 'ask'
}
