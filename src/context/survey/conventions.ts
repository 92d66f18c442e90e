// How code is to look here, by the configuration of the tools that see to it, and the files that tell agents.
import type { Finding, Look } from './finding.ts'
import { dependenciesOf } from './package-json.ts'

/** Tools by the files that configure them; a name ends at a dot or at its end. */
const TOOLS: readonly (readonly [tool: string, files: RegExp])[] = [
  ['Prettier', /^(?:\.prettierrc(?:\..+)?|prettier\.config\..+)$/],
  ['ESLint', /^(?:\.eslintrc(?:\..+)?|eslint\.config\..+)$/],
  ['Biome', /^biome\.jsonc?$/],
  ['oxlint', /^\.?oxlint(?:rc\.json|\.config\..+)$/],
  ['oxfmt', /^\.oxfmtrc\.jsonc?$/],
  ['dprint', /^\.?dprint\.jsonc?$/],
  ['Stylelint', /^(?:\.stylelintrc(?:\..+)?|stylelint\.config\..+)$/],
  ['knip', /^knip\.(?:jsonc?|ts)$/],
  ['rustfmt', /^\.?rustfmt\.toml$/],
  ['clang-format', /^\.clang-format$/],
  ['golangci-lint', /^\.golangci\.(?:ya?ml|toml|json)$/],
  ['RuboCop', /^\.rubocop\.yml$/],
  ['PHP CS Fixer', /^\.php-cs-fixer(?:\.dist)?\.php$/],
  ['PHPStan', /^phpstan\.neon(?:\.dist)?$/],
  ['Checkstyle', /^checkstyle\.xml$/],
  ['detekt', /^detekt\.ya?ml$/],
  ['ktlint', /^\.ktlint$/],
  ['pre-commit', /^\.pre-commit-config\.yaml$/],
  ['lefthook', /^\.?lefthook\.ya?ml$/],
  ['commitlint', /^(?:\.commitlintrc(?:\..+)?|commitlint\.config\..+)$/],
]

/** Tools that need no file of their own. */
const BY_DEPENDENCY: readonly (readonly [tool: string, dependency: string])[] = [
  ['Prettier', 'prettier'],
  ['oxlint', 'oxlint'],
  ['oxfmt', 'oxfmt'],
  ['standard', 'standard'],
  ['xo', 'xo'],
  ['husky', 'husky'],
]

/** The tools that see to how code looks, and what two of their files say in a word. */
export function conventionFindings(look: Look): readonly Finding[] {
  const names = look.listing.in('')
  const byFile = TOOLS.flatMap(([tool, files]) => {
    const from = names.find((name) => files.test(name))
    return from === undefined ? [] : [[tool, from] as const]
  })
  const dependencies = dependenciesOf(look)
  const byDependency = BY_DEPENDENCY.filter(([, name]) => dependencies.has(name)).map(
    ([tool]) => [tool, 'package.json'] as const,
  )
  const tools = new Map([...byDependency, ...byFile])
  return [
    ...[...tools].map(([text, from]): Finding => ({ topic: 'conventions', text, from })),
    ...indentation(look),
    ...strictness(look),
  ]
}

/** Read by people's editors, so true of every file. */
function indentation({ listing, sources }: Look): readonly Finding[] {
  const from = '.editorconfig'
  if (!listing.has(from)) return []
  const everywhere =
    /^\[\*\]\s*$([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(sources.text(from) ?? '')?.[1] ?? ''
  const style = /^\s*indent_style\s*=\s*(tab|space)/im.exec(everywhere)?.[1]?.toLowerCase()
  const size = /^\s*indent_size\s*=\s*(\d+)/im.exec(everywhere)?.[1]
  if (style === undefined) return []
  const text =
    style === 'tab'
      ? 'indented with tabs'
      : `indented with ${size ?? ''} spaces`.replaceAll(/\s+/g, ' ')
  return [{ topic: 'conventions', text, from }]
}

function strictness({ listing, sources }: Look): readonly Finding[] {
  const from = 'tsconfig.json'
  const isStrict = listing.has(from) && /"strict"\s*:\s*true/.test(sources.text(from) ?? '')
  return isStrict ? [{ topic: 'conventions', text: 'strict TypeScript', from }] : []
}

const INSTRUCTIONS: readonly string[] = [
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
  '.github/copilot-instructions.md',
  '.cursorrules',
  '.windsurfrules',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'docs/ARCHITECTURE.md',
]

/** The files that were written for whoever works here. Named, and never copied: an agent reads them, or its program does. */
export function instructionFindings({ listing }: Look): readonly Finding[] {
  const rules = listing.in('.cursor/rules').length > 0 ? ['.cursor/rules/'] : []
  return [...INSTRUCTIONS.filter(listing.has), ...rules].map((from) => ({
    topic: 'instructions',
    text: from,
    from,
  }))
}
