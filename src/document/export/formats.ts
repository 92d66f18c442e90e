export const EXPORT_FORMATS = ['json', 'toon', 'markdown', 'session-json', 'workflow-log'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]
