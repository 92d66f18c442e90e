import { renderViews } from '../../hook/render-views.ts'

export async function serveEvent(input: string): Promise<string> {
  await renderViews(input, process.env)
  return ''
}
