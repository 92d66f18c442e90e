import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { StatusBadge, Time } from '../components/values.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Loaded } from '../components/states.tsx'
import { Text } from '../components/text.tsx'
import { href, hrefTo } from '../data/router.ts'

export function HandoffView({ id }: { id: string }) {
  const handoff = useResource(
    `handoff ${id}`,
    (signal) => api.handoff(id, signal),
    (event) => event.type === 'handoffs',
  )
  const page = handoff.value
  return (
    <div class="view">
      <header class="view-head">
        <h1>
          <a class="crumb" href={href('/handoffs')}>
            Handoffs
          </a>{' '}
          {page === undefined ? null : <Text>{`${page.sessionName}/${page.number}`}</Text>}
        </h1>
        {page === undefined ? null : (
          <>
            <StatusBadge of={page.status} />
            <span class="aside">
              <a href={hrefTo.session(page.session)}>
                <Text>{page.sessionName}</Text>
              </a>
              , <Time at={page.at} />
            </span>
          </>
        )}
      </header>
      <div class="view-body">
        <Loaded resource={handoff}>
          {({ markdown, status, sessionName, number }) => (
            <div class="stack">
              {status === 'waiting' ? (
                <p class="remark">
                  Taken up with <code>stint handoff accept {`${sessionName}/${number}`}</code>
                </p>
              ) : null}
              <article class="panel paper">
                <Markdown name={`handoff ${id}`} text={withoutFields(markdown)} />
              </article>
            </div>
          )}
        </Loaded>
      </div>
    </div>
  )
}

/** Removes the frontmatter, which is for programs. */
function withoutFields(markdown: string): string {
  return markdown.replace(/^---\n[\s\S]*?\n---\n/, '')
}
