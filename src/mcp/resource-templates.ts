export const MARKDOWN = 'text/markdown'

/** How the addresses of documents are made. */
export const RESOURCE_TEMPLATES = [
  {
    name: 'session',
    uriTemplate: 'stint://session/{id}',
    description: 'The document of a session',
    mimeType: MARKDOWN,
  },
  {
    name: 'handoff',
    uriTemplate: 'stint://handoff/{session}/{number}',
    description: 'A handoff as it was recorded',
    mimeType: MARKDOWN,
  },
]
