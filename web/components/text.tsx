// Texts of others. Everything here ends in text nodes; nothing of it is ever read as markup.
import type { ComponentChildren } from 'preact'

// Characters that change how their neighbours are shown without being seen themselves.
const UNSEEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const UNSEEN_ALL = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/

/** One text in its own direction. What would turn its surroundings round is shown by its number instead. */
export function Text({ children }: { children: string }) {
  return <bdi>{revealInvisible(children)}</bdi>
}

export function revealInvisible(text: string): ComponentChildren {
  if (!UNSEEN.test(text)) return text
  return text.split(UNSEEN_ALL).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      <span key={index} class="unseen">
        U+{piece.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}
      </span>
    ),
  )
}

/** A message of Stint's own, in which commands stand between backticks. */
export function WithCode({ text }: { text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((piece, index) =>
          index % 2 === 0 ? (
            revealInvisible(piece)
          ) : (
            <code key={index}>{revealInvisible(piece)}</code>
          ),
        )}
    </>
  )
}

/** A piece of what was found, with what it was found by between \u0001 and \u0002. */
export function Snippet({ text }: { text: string }) {
  return (
    <bdi class="snippet">
      {text.split('\u0001').map((piece, index) => {
        const end = piece.indexOf('\u0002')
        if (index === 0 || end === -1)
          return <span key={index}>{revealInvisible(piece.replaceAll('\u0002', ''))}</span>
        return (
          <span key={index}>
            <mark>{revealInvisible(piece.slice(0, end))}</mark>
            {revealInvisible(piece.slice(end + 1).replaceAll('\u0002', ''))}
          </span>
        )
      })}
    </bdi>
  )
}
