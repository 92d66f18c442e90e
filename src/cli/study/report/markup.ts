import { withoutControls } from '../../../text/clean.ts'
import type { Table } from '../table.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that becomes no markup, between tags and in attributes alike. */
export function escape(text: string): string {
  return withoutControls(text).replace(/["&'<>]/g, (mark) => ESCAPES[mark]!)
}

/** A table that is scrolled by itself where the page is narrow, with the keyboard as well. */
export function tableMarkup(caption: string, { head, rows }: Table): string {
  const [corner = '', ...columns] = head
  const first = corner === '' ? '<td></td>' : `<th scope="col">${escape(corner)}</th>`
  const body = rows.map(
    ([name = '', ...cells]) =>
      `<tr><th scope="row">${escape(name)}</th>${cells.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`,
  )
  return [
    `<div class="scrolled" role="region" tabindex="0" aria-label="${escape(caption)}">`,
    `<table><caption>${escape(caption)}</caption>`,
    `<thead><tr>${first}${columns.map((column) => `<th scope="col">${escape(column)}</th>`).join('')}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody></table></div>`,
  ].join('\n')
}
