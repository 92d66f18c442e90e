declare const BUILD: string | undefined

/** What one program precomputes for another is of the same build, or nothing. */
export const THIS_BUILD = typeof BUILD === 'string' ? BUILD : 'sources'
