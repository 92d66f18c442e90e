// Untrusted text. Everything here becomes text nodes and is never parsed as markup.
import type { ComponentChildren } from 'preact'

// Invisible characters that change how their neighbours are shown.
const INVISIBLE = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const INVISIBLE_GROUPS = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/

/** Isolates the text direction. Characters that would reorder the text around them are shown as code points. */
export function Text({ children }: { children: string }) {
  return <bdi>{revealInvisible(children)}</bdi>
}

export function revealInvisible(text: string): ComponentChildren {
  if (!INVISIBLE.test(text)) return text
  return text.split(INVISIBLE_GROUPS).map((fragment, index) =>
    index % 2 === 0 ? (
      fragment
    ) : (
      <span key={index} class="unseen">
        U+{fragment.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}
      </span>
    ),
  )
}

/** A message of Stint's own, with commands between backticks. */
export function WithCode({ text }: { text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((fragment, index) =>
          index % 2 === 0 ? (
            revealInvisible(fragment)
          ) : (
            <code key={index}>{revealInvisible(fragment)}</code>
          ),
        )}
    </>
  )
}

/** A search excerpt with its matches between \u0001 and \u0002. */
export function Snippet({ text }: { text: string }) {
  return (
    <bdi class="snippet">
      {text.split('\u0001').map((fragment, index) => {
        const end = fragment.indexOf('\u0002')
        if (index === 0 || end === -1)
          return <span key={index}>{revealInvisible(fragment.replaceAll('\u0002', ''))}</span>
        return (
          <span key={index}>
            <mark>{revealInvisible(fragment.slice(0, end))}</mark>
            {revealInvisible(fragment.slice(end + 1).replaceAll('\u0002', ''))}
          </span>
        )
      })}
    </bdi>
  )
}
