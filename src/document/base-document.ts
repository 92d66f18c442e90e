import { REGIONS, type Region } from '../session/kinds/kind.ts'
import type { SessionState } from '../session/state.ts'
import { type DocumentBlock, type DocumentModel, type DocumentSection, modelOf } from './model.ts'
import { type ParsedDocument, parseDocument } from './parse.ts'
import { renderModel } from './render.ts'

export type BaseBlock = DocumentBlock & { readonly id: string; readonly ids: readonly string[] }

export interface BaseDocument extends Omit<ParsedDocument, 'regions' | 'sections'> {
  readonly regions: Readonly<Record<Region, readonly BaseBlock[]>>
  readonly sections: readonly DocumentSection[]
  readonly present: ReadonlySet<Region>
}

const NO_MARKER = { offset: 0, sum: '00000000' }

/** The base is rendered and parsed too, so that whatever this does to a text happens on both sides of the comparison. */
export function baseDocument(state: SessionState): BaseDocument {
  const model = modelOf(state)
  const parsed = parseDocument(renderModel(model, NO_MARKER))
  if (!parsed.ok) throw new Error(`a rendered document cannot be read back: ${parsed.problem}`)
  const { document } = parsed
  const regions = Object.fromEntries(
    REGIONS.map((region) => [
      region,
      withIds(document.regions[region], inRenderedOrder(region, model)),
    ]),
  ) as unknown as BaseDocument['regions']
  const present = new Set(REGIONS.filter((region) => !document.missing.has(region)))
  return {
    ...document,
    regions,
    sections: sectionsWithIds(document.sections, model.sections),
    present,
  }
}

function inRenderedOrder(region: Region, model: DocumentModel) {
  const blocks = model.regions[region]
  if (region !== 'commands') return blocks
  return [
    ...blocks.filter((block) => block.kind === 'command'),
    ...blocks.filter((block) => block.kind === 'remark'),
  ]
}

function withIds(parsed: readonly DocumentBlock[], model: readonly DocumentBlock[]) {
  let next = 0
  return parsed.map((block) => {
    const first = next
    next += 1
    if (block.kind === 'remark') while (model[next]?.kind === 'remark') next += 1
    const ids = model.slice(first, next).flatMap((source) => source.id ?? [])
    return { ...block, id: ids[0] ?? '', ids }
  })
}

function sectionsWithIds(parsed: readonly DocumentSection[], model: readonly DocumentSection[]) {
  const left = [...model]
  return parsed.map((section) => {
    const index = left.findIndex(
      (other) => other.title === section.title && other.body.trim() === section.body.trim(),
    )
    const [source] = index === -1 ? [] : left.splice(index, 1)
    return source?.id === undefined ? section : { ...section, id: source.id }
  })
}
