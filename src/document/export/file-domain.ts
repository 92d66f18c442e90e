// Decided by the path alone. A folder outranks an extension: `server/page.html` is backend.

export type FileDomain = 'frontend' | 'backend' | 'devops' | 'docs' | 'other'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const FOLDERS: readonly (readonly [FileDomain, ReadonlySet<string>])[] = [
  [
    'devops',
    words(
      '.github .circleci .ci ci deploy deployment docker infra infrastructure k8s kubernetes helm terraform ansible',
    ),
  ],
  ['docs', words('docs doc documentation')],
  [
    'frontend',
    words(
      'frontend front-end client web webapp www ui components pages styles css public assets static',
    ),
  ],
  [
    'backend',
    words(
      'backend back-end server api controllers routes db database migrations models services workers',
    ),
  ],
]

const ENDINGS: readonly (readonly [FileDomain, ReadonlySet<string>])[] = [
  ['devops', words('tf tfvars hcl sh bash ps1 dockerfile nix')],
  ['docs', words('md mdx rst adoc txt')],
  ['frontend', words('tsx jsx vue svelte astro css scss sass less html htm svg')],
  [
    'backend',
    words(
      'py go rs rb php java kt scala cs fs ex exs erl c h cc cpp hpp sql prisma proto graphql ts mts cts js mjs cjs',
    ),
  ],
]

const DEVOPS_FILES =
  /^(?:dockerfile.*|containerfile|docker-compose.*|compose\.ya?ml|makefile|justfile|jenkinsfile|procfile|\.gitlab-ci\.yml|\.travis\.yml|\.dockerignore|nginx.*\.conf)$/

export function fileType(path: string): string {
  return /[^/\\]\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
}

export function fileDomain(path: string): FileDomain {
  const segments = path.toLowerCase().split(/[/\\]/)
  const name = segments.pop() ?? ''
  if (DEVOPS_FILES.test(name)) return 'devops'
  // The outermost folder decides: `frontend/src/services` is frontend.
  for (const folder of segments) {
    const known = FOLDERS.find(([, names]) => names.has(folder))
    if (known !== undefined) return known[0]
  }
  const type = fileType(path)
  return ENDINGS.find(([, types]) => types.has(type))?.[0] ?? 'other'
}

export function sessionDomain(paths: readonly string[]) {
  const sides = new Set(paths.map(fileDomain))
  if (sides.has('frontend') === sides.has('backend')) {
    return !sides.has('frontend') && sides.has('devops') ? 'devops' : 'fullstack'
  }
  return sides.has('frontend') ? 'frontend' : 'backend'
}
