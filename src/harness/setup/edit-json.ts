// Edits leave every other byte unchanged; formatting editors would reformat the lines around. The
// package's main entry cannot be bundled, hence this path.
import { type Node, type ParseError, parseTree } from 'jsonc-parser/lib/esm/main.js'

type Path = readonly (string | number)[]

export function addMember(text: string, path: Path, key: string, value: unknown): string {
  return insertChild(text, findNode(text, path), value, key)
}

export function addItem(text: string, path: Path, value: unknown): string {
  return insertChild(text, findNode(text, path), value)
}

export function editString(text: string, path: Path, change: (raw: string) => string): string {
  const { offset, length } = findNode(text, path)
  const [start, end] = [offset + 1, offset + length - 1]
  return splice(text, start, end, change(text.slice(start, end)))
}

export function removeAt(text: string, path: Path): string {
  return removeChild(text, findNode(text, path.slice(0, -1)), path.at(-1)!)
}

export function syntaxErrorLine(text: string): number | undefined {
  const errors: ParseError[] = []
  parseTree(text, errors, { disallowComments: true })
  return errors[0] === undefined ? undefined : text.slice(0, errors[0].offset).split('\n').length
}

function findNode(text: string, path: Path) {
  const found = path.reduce<Node | undefined>(childAt, parseTree(text))
  if (found === undefined) throw new Error(`no ${path.join('.')} in this JSON`)
  return found
}

function childAt(node: Node | undefined, key: string | number) {
  if (typeof key === 'number') return node?.children?.[key]
  return memberOf(node, key)?.children?.[1]
}

/** With duplicate keys the last one counts. */
function memberOf(node: Node | undefined, key: string) {
  return node?.children?.findLast((member) => member.children?.[0]?.value === key)
}

function insertChild(text: string, container: Node, value: unknown, key?: string) {
  const children = container.children ?? []
  const last = children.at(-1)
  if (last === undefined) return insertFirst(text, container, value, key)
  const indent = indentOf(text, children[0]!.offset)
  const added =
    indent === undefined
      ? `,${text.includes('\n') ? ' ' : ''}${serializeCompact(value, key)}`
      : `,${lineEnd(text)}${indent}${serializeIndented(text, indent, value, key)}`
  return splice(text, endOf(last), endOf(last), added)
}

function insertFirst(text: string, container: Node, value: unknown, key?: string) {
  const at = container.offset + 1
  const isRoot = container.parent === undefined
  if (!isRoot && !text.includes('\n')) return splice(text, at, at, serializeCompact(value, key))
  const outer = /^[ \t]*/.exec(text.slice(lineStart(text, container.offset)))![0]
  const indent = outer + indentUnit(text)
  const isOpen = text.slice(at, endOf(container)).includes('\n')
  const closing = isOpen ? '' : `${lineEnd(text)}${outer}`
  return splice(
    text,
    at,
    at,
    `${lineEnd(text)}${indent}${serializeIndented(text, indent, value, key)}${closing}`,
  )
}

function removeChild(text: string, container: Node, key: string | number) {
  const children = container.children ?? []
  const index = typeof key === 'number' ? key : children.indexOf(memberOf(container, key)!)
  const node = children[index]!
  const next = children[index + 1]
  if (index > 0) return splice(text, endOf(children[index - 1]!), endOf(node), '')
  if (next !== undefined) return splice(text, node.offset, next.offset, '')
  return splice(text, container.offset + 1, endOf(container) - 1, '')
}

function serializeCompact(value: unknown, key?: string) {
  return `${key === undefined ? '' : `${JSON.stringify(key)}:`}${JSON.stringify(value)}`
}

function serializeIndented(text: string, indent: string, value: unknown, key?: string) {
  const lines = JSON.stringify(value, undefined, indentUnit(text))
    .split('\n')
    .join(`${lineEnd(text)}${indent}`)
  return `${key === undefined ? '' : `${JSON.stringify(key)}: `}${lines}`
}

function splice(text: string, from: number, to: number, added: string) {
  return text.slice(0, from) + added + text.slice(to)
}

function endOf(node: Node) {
  return node.offset + node.length
}

function lineStart(text: string, offset: number) {
  return text.lastIndexOf('\n', offset - 1) + 1
}

function indentOf(text: string, offset: number) {
  const start = lineStart(text, offset)
  const before = text.slice(start, offset)
  return start > 0 && /^[ \t]*$/.test(before) ? before : undefined
}

function indentUnit(text: string) {
  return /^\uFEFF?\s*\{[ \t]*\r?\n([ \t]+)"/.exec(text)?.[1] ?? '  '
}

function lineEnd(text: string) {
  return text.includes('\r\n') ? '\r\n' : '\n'
}
